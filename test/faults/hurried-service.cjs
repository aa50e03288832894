// Runs before the app: makes it the installed one without a window, whose looks for a replaced program follow each other at once, with half a minute of its clock between them.
const { app } = require('electron')

app.once('ready', () => {
  app.isPackaged = true
  process.argv = [process.execPath, ...process.argv.slice(process.argv.findIndex((given) => given === '--headless'))]
})
const { setInterval: unhurried } = require('node:timers')
const { now } = Date
let ahead = 0
Object.assign(Date, { now: () => now() + ahead })
const setInterval = (work, ms, ...rest) => {
  if (!new Error().stack.includes('restartWhenReplaced')) return unhurried(work, ms, ...rest)
  return unhurried(() => {
    ahead += ms
    work()
  }, 50)
}
Object.assign(globalThis, { setInterval })
