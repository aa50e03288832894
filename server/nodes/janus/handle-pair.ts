import { NodeError } from '../media-node.ts'
import type { JanusHandle } from './janus-handle.ts'

/** Two handles whose nodes call each other over WebRTC: one sends what the other publishes. */

const never = new AbortController().signal

/** Both handles, or none. @throws what the first of them that is not there failed with */
export async function bothAttached(
  publisher: Promise<JanusHandle>,
  subscriber: Promise<JanusHandle>,
): Promise<{ publisher: JanusHandle; subscriber: JanusHandle }> {
  const attached = await Promise.allSettled([publisher, subscriber])
  const [first, second] = attached
  if (first.status === 'fulfilled' && second.status === 'fulfilled')
    return { publisher: first.value, subscriber: second.value }
  for (const one of attached) if (one.status === 'fulfilled') one.value.detach(never).catch(() => {})
  const failed = attached.find((one) => one.status === 'rejected')
  throw failed?.reason ?? new NodeError('a handle is gone')
}

/** Tells one end the candidates of the other, as they come, from a moment on. Returns the function that ends it. */
export function passCandidates(
  from: JanusHandle,
  to: JanusHandle,
  moment: Promise<void>,
  signal: AbortSignal,
): () => void {
  return from.onEvent((event) => {
    if (event.type !== 'trickle') return
    // Without one of them the others may do; without any the connection fails, which is noticed.
    moment.then(() => to.trickle(event.candidate, signal)).catch(() => {})
  })
}
