// Runs before the app: notes what its first window tells until somebody asks.
const { app } = require('electron')

globalThis.windowEvents = []
app.once('browser-window-created', (_event, window) => {
  for (const name of ['ready-to-show', 'show', 'maximize']) window.on(name, () => globalThis.windowEvents.push(name))
})
