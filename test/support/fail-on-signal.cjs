// Preloaded into a program under test (`--require`): on a signal, an error that nobody catches, in a timer or as a rejection.
// Which program is said by FAILING_PROGRAM: the end of its path, or one of its arguments.
const program = process.env.FAILING_PROGRAM ?? ''
if (process.argv[1]?.endsWith(program) || process.argv.includes(program)) {
  process.on('SIGUSR2', () => {
    setTimeout(() => {
      throw new Error('an error that nobody foresaw')
    }, 0)
  })
  process.on('SIGWINCH', () => {
    void Promise.reject(new Error('a rejection that nobody foresaw'))
  })
}
if (program === '' && process.argv[1]?.endsWith('headless.js')) {
  // The media program gets neither NODE_OPTIONS nor this variable from its controller.
  const childProcess = require('node:child_process')
  const { fork } = childProcess
  childProcess.fork = (path, args, options) =>
    fork(path, args, {
      ...options,
      execArgv: [...options.execArgv, `--allow-fs-read=${__filename}`, `--require=${__filename}`],
    })
  require('node:module').syncBuiltinESMExports()
}
