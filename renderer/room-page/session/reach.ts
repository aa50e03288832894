/** Outcome of an attempt to reach somebody. */
export interface ReachListener {
  /** The first one that was reached; no other follows. */
  opened(origin: string, socket: WebSocket): void
  /** None of them can be reached now. */
  failed(): void
}

/** Addresses to call. */
export interface Called {
  /** Called at once, e.g. `http://10.0.0.5:7082`. */
  first: string
  /** Called as well when that one is silent, or cannot be reached. */
  others: readonly string[]
  /** They are called only when the first one is silent: where it refuses, it may be back in a moment. */
  onlyWhenSilent: boolean
}

/** A machine that is lost does not even refuse: the next one is called after so many milliseconds, while the first call goes on. */
const silentMs = 1_000
/** And from there to the next. */
const stepMs = 300
/** All of them together, where there are several; somebody who passes calls on may have to wait for whoever is to take over. */
const severalMs = 5_000
const oneMs = 8_000

/** Opens a signalling connection to the first of several nodes that answers. @returns what gives it up */
export function reach({ first, others, onlyWhenSilent }: Called, listener: ReachListener): () => void {
  const left = [...others]
  const calls = new Set<WebSocket>()
  const finish = (): void => {
    clearTimeout(next)
    clearTimeout(deadline)
    left.length = 0
  }
  const hangUp = (): void => {
    finish()
    const open = [...calls]
    calls.clear()
    for (const socket of open) socket.close()
  }
  const call = (origin: string): void => {
    const socket = connected(origin)
    if (socket === undefined) return callNext()
    calls.add(socket)
    socket.addEventListener('open', () => {
      if (!calls.delete(socket)) return
      hangUp()
      listener.opened(origin, socket)
    })
    socket.addEventListener('close', () => {
      if (!calls.delete(socket)) return
      if (origin === first && onlyWhenSilent && calls.size === 0) left.length = 0
      if (left.length > 0) return callNext()
      if (calls.size > 0) return
      finish()
      listener.failed()
    })
  }
  const callNext = (): void => {
    clearTimeout(next)
    const origin = left.shift()
    if (origin === undefined) return
    next = setTimeout(callNext, stepMs)
    call(origin)
  }
  let next = setTimeout(callNext, silentMs)
  const deadline = setTimeout(
    () => {
      hangUp()
      listener.failed()
    },
    others.length > 0 ? severalMs : oneMs,
  )
  call(first)
  return hangUp
}

/** Undefined where this page may not go there: one that came by https goes to no plain address. */
function connected(origin: string): WebSocket | undefined {
  try {
    return new WebSocket(`${origin.replace(/^http/, 'ws')}/signal`)
  } catch {
    return undefined
  }
}
