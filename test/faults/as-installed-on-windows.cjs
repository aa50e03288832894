// Runs the app's main process as if it was installed on Windows, in the folder that WINDOWS_PROGRAM names.
const { app } = require('electron')

Object.defineProperty(process, 'platform', { value: 'win32' })
app.isPackaged = true
const getPath = app.getPath.bind(app)
app.getPath = (name) => (name === 'exe' ? `${process.env.WINDOWS_PROGRAM}/Roomdesk.exe` : getPath(name))
