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
