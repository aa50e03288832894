/**
 * Calls `run` once when the signal aborts. If it is aborted already, calls it at once: an `abort` listener alone would never be called then.
 * @returns unregisters `run`
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run()
    return () => {}
  }
  signal.addEventListener('abort', run, { once: true })
  return () => signal.removeEventListener('abort', run)
}

/**
 * Settles as the promise does, unless the signal aborts first. The work behind the promise goes on: others may wait for it, too.
 * @throws the signal's reason
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise<T>((resolve, reject) => {
    const unregister = onAbort(signal, () => reject(signal.reason))
    promise.then(resolve, reject).finally(unregister)
  })
}
