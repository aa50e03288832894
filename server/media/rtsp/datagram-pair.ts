import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { RtspError } from './rtsp-error.ts'

/** Kernel buffer for incoming packets: a key frame of a 4K camera arrives in one burst. */
const receiveBuffer = 2 * 1024 * 1024

/** Two UDP sockets on neighbouring ports: RTP on the even one, RTCP on the odd one (RFC 3550, section 11). */
export class DatagramPair {
  readonly #rtp: dgram.Socket
  readonly #rtcp: dgram.Socket
  /** The even port. */
  readonly port: number
  #cameraAddress = ''
  #cameraPorts: readonly [number, number] | undefined

  private constructor(rtp: dgram.Socket, rtcp: dgram.Socket, port: number) {
    this.#rtp = rtp
    this.#rtcp = rtcp
    this.port = port
  }

  /** @throws RtspError when no pair of ports is free */
  static async open(cameraAddress: string): Promise<DatagramPair> {
    const type = net.isIPv6(cameraAddress) ? 'udp6' : 'udp4'
    for (let attempt = 0; attempt < 50; attempt++) {
      const port = 20_000 + 2 * Math.floor(Math.random() * 6_000)
      const sockets = [dgram.createSocket(type), dgram.createSocket(type)] as const
      try {
        for (const [index, socket] of sockets.entries()) {
          socket.bind(port + index)
          await once(socket, 'listening')
          socket.on('error', () => {})
        }
        enlarge(sockets[0])
        return new DatagramPair(...sockets, port)
      } catch {
        for (const socket of sockets) closeQuietly(socket)
      }
    }
    throw new RtspError('protocol', 'no free pair of UDP ports')
  }

  /** Packets of the camera; those of other senders are dropped. */
  listen(rtp: (packet: Buffer) => void, rtcp: (packet: Buffer) => void): void {
    this.#rtp.on('message', (packet, { address }) => {
      if (this.#isCamera(address)) rtp(packet)
    })
    this.#rtcp.on('message', (packet, { address }) => {
      if (this.#isCamera(address)) rtcp(packet)
    })
  }

  /** Where the camera sends from, and opens the way back through a firewall. */
  meet(address: string, ports: readonly [number, number] | undefined): void {
    this.#cameraAddress = address
    this.#cameraPorts = ports
    if (ports === undefined) return
    // An RTP packet without payload, which every receiver drops.
    this.#rtp.send(Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), ports[0], address, () => {})
  }

  sendReport(packet: Buffer): void {
    if (this.#cameraPorts !== undefined) this.#rtcp.send(packet, this.#cameraPorts[1], this.#cameraAddress, () => {})
  }

  close(): void {
    closeQuietly(this.#rtp)
    closeQuietly(this.#rtcp)
  }

  #isCamera(address: string): boolean {
    return this.#cameraAddress === '' || address === this.#cameraAddress
  }
}

function enlarge(socket: dgram.Socket): void {
  try {
    socket.setRecvBufferSize(receiveBuffer)
  } catch {
    // The system's limit is lower: the default serves.
  }
}

function closeQuietly(socket: dgram.Socket): void {
  try {
    socket.close()
  } catch {
    // It was closed or never bound.
  }
}
