/**
 * Calls `run` once when the signal aborts, or immediately if it has already aborted: a listener added
 * after the abort would never be called.
 * @returns function that unregisters `run`
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
 * Settles as the promise does, unless the signal aborts first. The work of the promise continues, because other callers
 * may also await it.
 * @throws the signal's reason
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise<T>((resolve, reject) => {
    const unregister = onAbort(signal, () => reject(signal.reason))
    promise.then(resolve, reject).finally(unregister)
  })
}
