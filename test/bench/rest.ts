/** What comes gathers for so many milliseconds before it is looked at. */
const restMs = 3
const nobody = new Int32Array(new SharedArrayBuffer(4))

/**
 * Lets a program of many viewers look at what came a few hundred times a second, and not be woken for each packet: on machines of their own they would wake nobody here,
 * and with those who serve them they share the cores.
 * @param busy while it is, nothing waits
 */
export function restBetweenLooks(busy: () => boolean): void {
  const look = (): void => {
    if (busy()) return void setTimeout(look, 10 * restMs)
    Atomics.wait(nobody, 0, 0, restMs)
    setImmediate(look)
  }
  look()
}
