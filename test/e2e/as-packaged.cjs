// Runs before the app: it takes itself for the installed one, once it has decided about the sandbox, which the installed one does not start without.
const { app } = require('electron')

app.once('ready', () => (app.isPackaged = true))
