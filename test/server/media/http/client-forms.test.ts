import { beforeAll, expect, test } from 'vitest'
import { parseRaw, sendRaw } from '../../../support/sites/api-site.ts'
import { offerSdp } from '../../../support/media/offer.ts'
import { sharedMediaNode } from '../../../support/fixtures.ts'

const node = sharedMediaNode()
beforeAll(async () => {
  await node().openRoom('room')
  const token = node().token('room', { userId: 'ann' })
  await posted('/whip/room', { body: offerSdp({ direction: 'sendonly' }), token })
})

interface Form {
  body: string
  token: string
  /** Header fields in place of the usual ones; undefined: left out. */
  headers?: Readonly<Record<string, string | undefined>>
}

/** Sends a POST byte for byte. @returns status and Location of its answer */
async function posted(
  path: string,
  { body, token, headers = {} }: Form,
): Promise<{ status: number; location: string }> {
  const fields = {
    ...{ Host: 't', Connection: 'close', Authorization: `Bearer ${token}`, 'Content-Type': 'application/sdp' },
    ...{ 'Content-Length': String(Buffer.byteLength(body)), ...headers },
  }
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  )
  const text = await sendRaw(
    Number(URL.parse(node().url)?.port),
    `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`,
  )
  // An interim answer stands before the one that counts.
  const answer = parseRaw(text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, ''))
  return { status: answer.status, location: answer.headers.location ?? '' }
}

const offer = offerSdp()
const chunks = `${Buffer.byteLength(offer).toString(16)}\r\n${offer}\r\n0\r\n\r\n`
const forms: Readonly<Record<string, Partial<Form> & { path?: string }>> = {
  'a charset behind the type': { headers: { 'Content-Type': 'application/sdp; charset=utf-8' } },
  'the type in other letters': { headers: { 'Content-Type': 'Application/SDP' } },
  'Expect: 100-continue': { headers: { Expect: '100-continue' } },
  'a chunked body': { body: chunks, headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' } },
  'lines that end with LF': { body: offer.replaceAll('\r\n', '\n') },
  'no end of the last line': { body: offer.trimEnd() },
  'a slash behind the path': { path: '/whep/room/ann/' },
}

test.each(Object.entries(forms))(
  'a WHEP client watches with %s',
  async (_what, { path = '/whep/room/ann', ...form }) => {
    const token = node().token('room', { role: 'observer' })
    expect((await posted(path, { body: offer, token, ...form })).status).toBe(201)
  },
)

test('the scheme of the token may be in lower case', async () => {
  const token = node().token('room', { role: 'observer' })
  const headers = { Authorization: `bearer ${token}` }
  expect((await posted('/whep/room/ann', { body: offer, token, headers })).status).toBe(201)
})

test('a session that is deleted twice no longer exists both times', async () => {
  const { location } = await posted('/whep/room/ann', {
    body: offer,
    token: node().token('room', { role: 'observer' }),
  })
  const remove = async (): Promise<number> => (await fetch(`${node().url}${location}`, { method: 'DELETE' })).status
  expect([await remove(), await remove()]).toEqual([200, 200])
})
