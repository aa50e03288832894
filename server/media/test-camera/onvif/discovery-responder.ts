import { createSocket, type Socket } from 'node:dgram'
import os from 'node:os'
import { RateLimit } from '../../../../shared/rate-limit.ts'
import { scopesOf, servicePath } from './onvif-answers.ts'

/** Multicast group and port of searches (WS-Discovery 1.0, section 2.4). */
const group = { address: '239.255.255.250', port: 3702 } as const
const maxProbe = 16_384
/** Maximum number of answers per second: the sender of a search need not be who it says. */
const maxAnswers = 20

interface AnsweredCamera {
  name: string
  /** Id of the camera, the same in every answer. */
  id: string
  /** Port of the camera's HTTP services. */
  port: number
}

/** Answers searches for ONVIF devices in the networks of this machine (WS-Discovery 1.0). */
export class DiscoveryResponder {
  readonly #socket: Socket
  readonly #answers = new RateLimit({ max: maxAnswers, windowMs: 1_000, remembered: 1 })
  readonly #camera: AnsweredCamera

  constructor(camera: AnsweredCamera) {
    this.#camera = camera
    this.#socket = createSocket({ type: 'udp4', reuseAddr: true })
    // Without the port, the camera is not found by searches; its address works nevertheless.
    this.#socket.on('error', () => this.close())
    this.#socket.on('message', (message, { address, port }) => this.#answer(message, address, port))
    this.#socket.bind(group.port, () => {
      for (const address of localAddresses()) this.#join(address)
    })
  }

  close(): void {
    try {
      this.#socket.close()
    } catch {
      // The socket is already closed.
    }
  }

  #join(address: string): void {
    try {
      this.#socket.addMembership(group.address, address)
    } catch {
      // The interface does not support multicast.
    }
  }

  #answer(message: Buffer, address: string, port: number): void {
    if (message.length > maxProbe) return
    const probe = message.toString('utf8')
    const messageId = /<(?:\w{1,20}:)?MessageID>\s{0,20}([\w:.-]{1,100})\s{0,20}</.exec(probe)?.[1]
    if (messageId === undefined || !/<(?:\w{1,20}:)?Probe[\s/>]/.test(probe) || !this.#answers.take('')) return
    this.#socket.send(matchOf(this.#camera, messageId, addressTowards(address)), port, address, () => {})
  }
}

function localAddresses(): string[] {
  return Object.values(os.networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .flatMap(({ family, address }) => (family === 'IPv4' ? [address] : []))
}

/** Returns the address of this machine that is most like another one, which leads to the same network. */
function addressTowards(other: string): string {
  const alike = (address: string): number => {
    const differs = address.split('.').findIndex((part, index) => part !== other.split('.')[index])
    return differs < 0 ? 4 : differs
  }
  return localAddresses().toSorted((one, another) => alike(another) - alike(one))[0] ?? '127.0.0.1'
}

function matchOf({ name, id, port }: AnsweredCamera, messageId: string, host: string): string {
  const spaces =
    'xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" xmlns:dn="http://www.onvif.org/ver10/network/wsdl"'
  const header = `<a:RelatesTo>${messageId}</a:RelatesTo><a:To>http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous</a:To><a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/ProbeMatches</a:Action>`
  const match = `<a:EndpointReference><a:Address>${id}</a:Address></a:EndpointReference><d:Types>dn:NetworkVideoTransmitter</d:Types><d:Scopes>${scopesOf(name).join(' ')}</d:Scopes><d:XAddrs>http://${host}:${port}${servicePath}</d:XAddrs><d:MetadataVersion>1</d:MetadataVersion>`
  return `<?xml version="1.0" encoding="UTF-8"?><s:Envelope ${spaces}><s:Header>${header}</s:Header><s:Body><d:ProbeMatches><d:ProbeMatch>${match}</d:ProbeMatch></d:ProbeMatches></s:Body></s:Envelope>`
}
