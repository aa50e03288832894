import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'

/**
 * A UDP port for WebRTC: `wanted` where it is free, and else any. Asked by binding it for a moment.
 * @param wanted 0: any
 */
export async function freeUdpPort(host: string, wanted: number): Promise<number> {
  for (const port of wanted === 0 ? [0] : [wanted, 0]) {
    const socket = dgram.createSocket(net.isIPv6(host) ? 'udp6' : 'udp4')
    try {
      socket.bind(port, host)
      await once(socket, 'listening')
      return socket.address().port
    } catch {
      // Taken: any other.
    } finally {
      socket.close()
    }
  }
  throw new Error('no UDP port is free')
}
