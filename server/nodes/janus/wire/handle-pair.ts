import { sleep } from '../../../../shared/sleep.ts'
import { NodeError } from '../../port/media-node-port.ts'
import type { JanusHandle } from './janus-handle.ts'

/**
 * Two handles whose nodes connect to each other over WebRTC. The subscriber's node sends the stream that the publisher
 * publishes.
 */
export interface HandlePair {
  publisher: JanusHandle
  subscriber: JanusHandle
}

/**
 * Waits for both handles. If one cannot be attached, the other handle is detached.
 * @throws the error of the first failed handle
 */
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
 * Delay of the candidates for the subscriber, in milliseconds. The publisher is the answerer, and starts the DTLS
 * handshake as soon as it is connected. If the subscriber is not connected by then, the first message is lost, and
 * repeated only after a second (RFC 6347, section 4.2.4.1). In a test with a dozen pairs on one Janus, two pairs
 * connected late without the delay, and none with 10 ms.
 */
const headStartMs = 50

/**
 * Passes the ICE candidates of each handle to the other handle, after both handles have received their remote
 * descriptions. Returns a function that stops passing candidates.
 */
export function passCandidates(
  { publisher, subscriber }: HandlePair,
  described: Promise<void>,
  signal: AbortSignal,
): () => void {
  const pass = (from: JanusHandle, to: JanusHandle, moment: Promise<void>): (() => void) =>
    from.onEvent((event) => {
      if (event.type !== 'trickle') return
      // A lost candidate is harmless if another candidate works. Otherwise the connection fails, and that failure is
      // reported.
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
