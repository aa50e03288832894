import { sleep } from '../../../../shared/sleep.ts'
import { NodeError } from '../../port/media-node-port.ts'
import type { JanusHandle } from './janus-handle.ts'

/** Two handles whose nodes call each other over WebRTC: the subscriber is sent what the publisher publishes. */
export interface HandlePair {
  publisher: JanusHandle
  subscriber: JanusHandle
}

/** Both handles, or none. @throws what the first of them that is not there failed with */
export async function bothAttached(
  publisher: Promise<JanusHandle>,
  subscriber: Promise<JanusHandle>,
): Promise<HandlePair> {
  const attached = await Promise.allSettled([publisher, subscriber])
  const [first, second] = attached
  if (first.status === 'fulfilled' && second.status === 'fulfilled')
    return { publisher: first.value, subscriber: second.value }
  for (const one of attached) if (one.status === 'fulfilled') one.value.drop()
  const failed = attached.find((one) => one.status === 'rejected')
  throw failed?.reason ?? new NodeError('a handle is gone')
}

/**
 * The publisher answers, so it begins the DTLS handshake, as soon as it is connected. Where the subscriber is not yet, its first message is lost and comes again a second later
 * (RFC 6347, section 4.2.4.1): so the subscriber looks for the way so many milliseconds longer. Of a dozen pairs on one Janus two were late without that, none with 10 ms.
 */
const headStartMs = 50

/** Passes each other's candidates to the two, once both have each other's descriptions. Returns the function that ends it. */
export function passCandidates(
  { publisher, subscriber }: HandlePair,
  described: Promise<void>,
  signal: AbortSignal,
): () => void {
  const pass = (from: JanusHandle, to: JanusHandle, moment: Promise<void>): (() => void) =>
    from.onEvent((event) => {
      if (event.type !== 'trickle') return
      // Without one of them the others may do; without any the connection fails, which is noticed.
      moment.then(() => to.trickle(event.candidate, signal)).catch(() => {})
    })
  const stops = [
    pass(publisher, subscriber, described),
    pass(
      subscriber,
      publisher,
      described.then(() => sleep(headStartMs)),
    ),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
