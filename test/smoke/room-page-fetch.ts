import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { TLSSocket } from 'node:tls'

const startOf = (media: string, roomId: string): string => `${media}/jroom/?roomId=${encodeURIComponent(roomId)}`

/** Opens the room page like a browser, through the address of the media API. @throws Error if it is another page */
export async function fetchPage(media: string, roomId: string): Promise<string> {
  const response = await fetch(startOf(media, roomId))
  const text = await response.text()
  return described(response.status, response.url, text)
}

/**
 * Does the same over TLS, from a server with this certificate only.
 * @param fingerprint SHA-256, as hex with or without colons
 */
export async function fetchPinned(media: string, roomId: string, fingerprint: string): Promise<string> {
  let url = startOf(media, roomId)
  for (let hops = 0; hops < 5; hops++) {
    const { status, location, text } = await getPinned(url, fingerprint)
    if (location === undefined) return described(status, url, text)
    url = new URL(location, url).href
  }
  throw new Error(`${url} leads round in a circle`)
}

async function getPinned(
  url: string,
  fingerprint: string,
): Promise<{ status: number; location: string | undefined; text: string }> {
  const plain = (text: string): string => text.replaceAll(':', '').toLowerCase()
  // The certificate is self-signed: the fingerprint identifies it.
  const request = https.get(url, { rejectUnauthorized: false, agent: false, timeout: 10_000 })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const { socket } = response
  const shown = socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : 'none'
  if (plain(shown) !== plain(fingerprint)) {
    request.destroy()
    throw new Error(`${url} showed the certificate ${shown}; the console tells ${fingerprint}`)
  }
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return { status: response.statusCode ?? 0, location: response.headers.location, text }
}

function described(status: number, url: string, text: string): string {
  const title = /<title>([^<]*)<\/title>/.exec(text)?.[1]
  if (status !== 200 || title === undefined) throw new Error(`${url} answered ${status} and no page`)
  return new URL(url).origin
}
