import { createHash } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import http from 'node:http'

/** An ONVIF device without media: it answers searches and names the RTSP address of another camera. */
export interface OnvifCamera extends AsyncDisposable {
  id: string
  /** SOAP requests that it got, by the name of the operation. */
  asked: string[]
}

/** Behaviour of the device. */
export interface OnvifOptions {
  /** Address of this machine at which it is. */
  host: string
  /** Address of this machine in the network whose searches reach it; left out: `host`. */
  network?: string
  name: string
  login?: { name: string; password: string }
  /** RTSP addresses that it names, with the size of the picture; the host is replaced by `wrongHost`. */
  streams: readonly { address: string; width: number; height: number }[]
  /** It takes the login of HTTP digest only. */
  httpDigest?: boolean
  /** Its clock less ours, in milliseconds; a login of another time is refused. */
  clockOffset?: number
  /** Host that its answers name, as behind NAT. */
  wrongHost?: string
  /** Port of its media service that its answers name, as behind NAT; left out: the right one. */
  wrongPort?: number
  /** Addresses that its answer to a search names beside the right one; PORT stands for its port. */
  beside?: readonly string[]
  /** Text before each answer to a search. */
  before?: string
}

const group = '239.255.255.250'

export async function startOnvifCamera(options: OnvifOptions): Promise<OnvifCamera> {
  const { host, name } = options
  const id = `urn:uuid:${createHash('md5').update(name).digest('hex')}`
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const operation = /<\w+:(Get\w+)/.exec(body)?.[1] ?? ''
      asked.push(operation)
      if (operation !== 'GetSystemDateAndTime' && !isAllowed(options, body, request.headers.authorization)) {
        if (options.httpDigest === true)
          response.setHeader('WWW-Authenticate', 'Digest realm="camera", nonce="n1", qop="auth"')
        response.writeHead(options.httpDigest === true ? 401 : 400)
        response.end(
          envelope(
            '<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>ter:NotAuthorized</s:Value></s:Subcode></s:Code></s:Fault>',
          ),
        )
        return
      }
      response.end(envelope(answerOf(options, operation, body, port)))
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  socket.on('message', (message, from) => {
    const messageId = /MessageID>([^<]+)</.exec(message.toString())?.[1] ?? ''
    const { beside = [] } = options
    const right = `http://${options.wrongHost ?? host}:${port}/onvif/device_service`
    const named = [...beside.map((each) => each.replace('PORT', String(port))), right].join(' ')
    const text = `${options.before ?? ''}<?xml version="1.0"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery"><s:Header><a:RelatesTo>${messageId}</a:RelatesTo></s:Header><s:Body><d:ProbeMatches><d:ProbeMatch><a:EndpointReference><a:Address>${id}</a:Address></a:EndpointReference><d:Scopes>onvif://www.onvif.org/name/${encodeURIComponent(name)} onvif://www.onvif.org/hardware/M1</d:Scopes><d:XAddrs>${named}</d:XAddrs></d:ProbeMatch></d:ProbeMatches></s:Body></s:Envelope>`
    answering(host).send(text, from.port, from.address)
  })
  socket.bind(3702, () => socket.addMembership(group, options.network ?? host))
  await once(socket, 'listening')
  const answers = new Map<string, Socket>()
  /** Answers come from the device's own address. */
  function answering(address: string): Socket {
    let sender = answers.get(address)
    if (sender === undefined) {
      sender = createSocket('udp4')
      sender.bind(0, address)
      answers.set(address, sender)
    }
    return sender
  }
  return {
    id,
    asked,
    [Symbol.asyncDispose]: async () => {
      socket.close()
      for (const sender of answers.values()) sender.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function isAllowed({ login, httpDigest, clockOffset = 0 }: OnvifOptions, body: string, authorization = ''): boolean {
  if (login === undefined) return true
  if (httpDigest === true) {
    const value = (field: string): string => new RegExp(`\\b${field}="?([^",]*)`).exec(authorization)?.[1] ?? ''
    const md5 = (text: string): string => createHash('md5').update(text).digest('hex')
    const secret = md5(`${login.name}:camera:${login.password}`)
    const proof = md5(`${secret}:n1:${value('nc')}:${value('cnonce')}:auth:${md5(`POST:${value('uri')}`)}`)
    return value('username') === login.name && value('response') === proof
  }
  const read = (element: string): string => new RegExp(`:${element}(?: [^>]*)?>([^<]*)<`).exec(body)?.[1] ?? ''
  const created = read('Created')
  const isLate = Math.abs(Date.parse(created) - Date.now() - clockOffset) > 30_000
  const digest = createHash('sha1')
    .update(Buffer.from(read('Nonce'), 'base64'))
    .update(created)
    .update(login.password)
    .digest('base64')
  return read('Username') === login.name && read('Password') === digest && !isLate
}

function answerOf(
  { host, wrongHost = host, wrongPort, streams, clockOffset = 0 }: OnvifOptions,
  operation: string,
  body: string,
  port: number,
): string {
  switch (operation) {
    case 'GetSystemDateAndTime': {
      const now = new Date(Date.now() + clockOffset)
      return `<d:GetSystemDateAndTimeResponse><d:SystemDateAndTime><t:UTCDateTime><t:Time><t:Hour>${now.getUTCHours()}</t:Hour><t:Minute>${now.getUTCMinutes()}</t:Minute><t:Second>${now.getUTCSeconds()}</t:Second></t:Time><t:Date><t:Year>${now.getUTCFullYear()}</t:Year><t:Month>${now.getUTCMonth() + 1}</t:Month><t:Day>${now.getUTCDate()}</t:Day></t:Date></t:UTCDateTime></d:SystemDateAndTime></d:GetSystemDateAndTimeResponse>`
    }
    case 'GetCapabilities':
      return `<d:GetCapabilitiesResponse><d:Capabilities><t:Media><t:XAddr>http://${wrongHost}:${wrongPort ?? port}/onvif/media</t:XAddr></t:Media></d:Capabilities></d:GetCapabilitiesResponse>`
    case 'GetProfiles':
      return `<m:GetProfilesResponse>${streams.map(({ width, height }, index) => `<m:Profiles token="p${index}"><t:VideoEncoderConfiguration><t:Resolution><t:Width>${width}</t:Width><t:Height>${height}</t:Height></t:Resolution></t:VideoEncoderConfiguration></m:Profiles>`).join('')}</m:GetProfilesResponse>`
    case 'GetStreamUri': {
      const index = Number(/ProfileToken>p(\d)</.exec(body)?.[1] ?? -1)
      const address = (streams[index]?.address ?? '').replace(/\/\/[^/:]+/, `//${wrongHost}`).replaceAll('&', '&amp;')
      return `<m:GetStreamUriResponse><m:MediaUri><t:Uri>${address}</t:Uri></m:MediaUri></m:GetStreamUriResponse>`
    }
    default:
      return ''
  }
}

function envelope(content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:d="http://www.onvif.org/ver10/device/wsdl" xmlns:m="http://www.onvif.org/ver10/media/wsdl" xmlns:t="http://www.onvif.org/ver10/schema" xmlns:ter="http://www.onvif.org/ver10/error"><s:Body>${content}</s:Body></s:Envelope>`
}
