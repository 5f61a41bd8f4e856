// Hands VS Code's API to the tests, which evaluate in the extension host's worker.
exports.activate = () => {
  globalThis.vscode = require("vscode");
};
