import dgram from 'node:dgram'
import { once } from 'node:events'
import { seededRandom } from '../seeded-random.ts'

/** A way to a UDP port that loses packets in both directions. */
export interface LossyProxy extends AsyncDisposable {
  /** Where it listens: the port is that of the target. */
  host: string
  counts: { passed: number; dropped: number }
  /** Share that is lost, 0 to 1. */
  loss: number
  /** So many packets of media to the client are lost next, whatever else passes. */
  loseMedia: number
}

/**
 * Stands at another loopback address on the port of the target, which advertises that address.
 * @param loss share that is lost, 0 to 1
 */
export async function startLossyProxy(port: number, loss: number, host = '127.0.0.2'): Promise<LossyProxy> {
  const front = dgram.createSocket('udp4')
  const backs = new Map<string, dgram.Socket>()
  const random = seededRandom(7)
  const proxy: LossyProxy = {
    host,
    loss,
    loseMedia: 0,
    counts: { passed: 0, dropped: 0 },
    [Symbol.asyncDispose]: async () => {
      for (const back of backs.values()) back.close()
      front.close()
      await once(front, 'close')
    },
  }
  const passes = (): boolean => {
    const pass = random() >= proxy.loss
    proxy.counts[pass ? 'passed' : 'dropped'] += 1
    return pass
  }
  front.on('message', (packet, client) => {
    const key = `${client.address}:${client.port}`
    let back = backs.get(key)
    if (back === undefined) {
      back = dgram.createSocket('udp4')
      back.on('message', (answer) => {
        if (isRtp(answer) && proxy.loseMedia > 0) {
          proxy.loseMedia -= 1
          proxy.counts.dropped += 1
        } else if (passes()) front.send(answer, client.port, client.address)
      })
      backs.set(key, back)
    }
    if (passes()) back.send(packet, port, '127.0.0.1')
  })
  front.bind(port, host)
  await once(front, 'listening')
  return proxy
}

/** RTP, and not RTCP, among what shares the port (RFC 7983, section 7; RFC 5761, section 4). */
function isRtp(packet: Buffer): boolean {
  const [first = 0, second = 0] = packet
  return first >= 128 && first <= 191 && (second < 192 || second > 223)
}
