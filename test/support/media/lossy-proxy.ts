import dgram from 'node:dgram'
import { once } from 'node:events'
import { Link } from './link.ts'

/** A proxy of a UDP port over links that drop, queue and delay packets. */
export interface LossyProxy extends AsyncDisposable {
  /** Address that it listens at, on the target's port. */
  host: string
  /** Links towards the client and the target; their conditions may change at any time. */
  toClient: Link
  toTarget: Link
  /** Number of media packets to the client to drop next; other packets pass. */
  loseMedia: number
  /** Is told of every encrypted media packet (SRTP) from the target; its header is readable (RFC 3711, section 3.1). */
  onMedia: (packet: Buffer) => void
}

/**
 * Listens at another loopback address on the port of the target, which advertises that address.
 * @param loss share of packets lost in both directions, 0 to 1
 */
export async function startLossyProxy(port: number, loss: number, host = '127.0.0.2'): Promise<LossyProxy> {
  const front = dgram.createSocket('udp4')
  const backs = new Map<string, dgram.Socket>()
  const [toClient, toTarget] = [new Link(7), new Link(8)]
  let over = false
  toClient.loss = loss
  toTarget.loss = loss
  const proxy: LossyProxy = {
    host,
    toClient,
    toTarget,
    loseMedia: 0,
    onMedia: () => {},
    [Symbol.asyncDispose]: async () => {
      over = true
      toClient.close()
      toTarget.close()
      for (const back of backs.values()) back.close()
      front.close()
      await once(front, 'close')
    },
  }
  front.on('message', (packet, client) => {
    const key = `${client.address}:${client.port}`
    let back = backs.get(key)
    if (back === undefined) {
      back = dgram.createSocket('udp4')
      back.on('message', (answer) => {
        if (isRtp(answer)) {
          proxy.onMedia(answer)
          if (proxy.loseMedia > 0) {
            proxy.loseMedia -= 1
            return
          }
        }
        toClient.carry(answer.length, () => {
          if (!over) front.send(answer, client.port, client.address)
        })
      })
      backs.set(key, back)
    }
    const socket = back
    toTarget.carry(packet.length, () => {
      if (!over) socket.send(packet, port, '127.0.0.1')
    })
  })
  front.bind(port, host)
  await once(front, 'listening')
  return proxy
}

/** Tells RTP from RTCP and the other protocols on the port (RFC 7983, section 7; RFC 5761, section 4). */
function isRtp(packet: Buffer): boolean {
  const [first = 0, second = 0] = packet
  return first >= 128 && first <= 191 && (second < 192 || second > 223)
}
