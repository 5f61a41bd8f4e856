/** A file's text, put in by esbuild. */
declare module "*.txt" {
  const text: string;
  export default text;
}
