/** Time during which input accumulates before it is read, in milliseconds. */
const restMs = 3
const nobody = new Int32Array(new SharedArrayBuffer(4))

/**
 * Lets a program of many viewers read its input a few hundred times a second, without a wake-up for each packet: on their own machines viewers would wake nobody here,
 * but here they share the cores with the servers.
 * @param busy does not wait while this is true
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
 * Serves requests of the parent process, and ends with it or with a failure. Rests between reads.
 * @param busy does not wait while this is true, nor during a request
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
