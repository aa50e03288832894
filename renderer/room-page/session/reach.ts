/** Receives the result of an attempt to connect. */
export interface ReachListener {
  /** The first node that answered; called once. */
  opened(origin: string, socket: WebSocket): void
  /** No node is reachable now. */
  failed(): void
}

/** Addresses to connect to. */
export interface Called {
  /** Used immediately, e.g. `http://10.0.0.5:7082`. */
  first: string
  /** Used as well if the first address does not answer or refuses. */
  others: readonly string[]
  /** Uses the others only if the first address does not answer: if it refuses, it may be available again soon. */
  onlyWhenSilent: boolean
}

/**
 * Time without an answer after which the next address is used as well, in milliseconds: a machine that is off does not
 * even refuse.
 */
const silentMs = 1_000
/** Delay before each further address, in milliseconds. */
const stepMs = 300
/**
 * Timeout of the whole attempt, for several addresses and for one, in milliseconds. Several need less: a node that
 * forwards calls may have to wait for the next leader.
 */
const severalMs = 5_000
const oneMs = 8_000

/** Opens a signalling connection to the first of several nodes that answers. @returns a function that aborts */
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
    const ended = (): void => {
      if (!calls.delete(socket)) return
      if (origin === first && onlyWhenSilent && calls.size === 0) left.length = 0
      if (left.length > 0) return callNext()
      if (calls.size > 0) return
      finish()
      listener.failed()
    }
    socket.addEventListener('close', ended)
    // Chromium dispatches no `close` for an address that the page's policy blocks.
    socket.addEventListener('error', ended)
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

/** Opens a WebSocket; undefined if the page may not connect there: a page over https cannot use a plain address. */
function connected(origin: string): WebSocket | undefined {
  try {
    return new WebSocket(`${origin.replace(/^http/, 'ws')}/signal`)
  } catch {
    return undefined
  }
}
