// Runs the app's main process as if on Windows. The media process, which loads natives, stays on this system.
if (!process.argv.some((argument) => argument.endsWith('utility-child.mjs')))
  Object.defineProperty(process, 'platform', { value: 'win32' })
