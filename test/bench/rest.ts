/** What comes gathers for so many milliseconds before it is looked at. */
const restMs = 3
const nobody = new Int32Array(new SharedArrayBuffer(4))

/**
 * Lets a program of many viewers look at what came a few hundred times a second, and not be woken for each packet: on machines of their own they would wake nobody here,
 * and with those who serve them they share the cores.
 * @param busy while it is, nothing waits
 */
function restBetweenLooks(busy: () => boolean): void {
  const look = (): void => {
    if (busy()) return void setTimeout(look, 10 * restMs)
    Atomics.wait(nobody, 0, 0, restMs)
    setImmediate(look)
  }
  look()
}

/**
 * Carries out what the process that started this one asks for, and ends with it or with what fails. Rests between looks at what came.
 * @param busy while it is, nothing waits, and never while something that was asked for is under way
 */
export function serveRequests<Request>(handle: (request: Request) => Promise<void>, busy = (): boolean => false): void {
  let asked = 0
  process.on('message', (message: Request) => {
    asked += 1
    handle(message)
      .catch((error: unknown) => {
        console.error(error)
        process.exit(1)
      })
      .finally(() => {
        asked -= 1
      })
  })
  restBetweenLooks(() => asked > 0 || busy())
  process.on('disconnect', () => process.exit(0))
}
