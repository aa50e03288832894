import dgram from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { TestMediaNode } from '../../support/media/media-node.ts'
import { type OfferOptions, offerSdp } from '../../support/media/offer.ts'
import { sharedMediaNode } from '../../support/fixtures.ts'

const node = sharedMediaNode({
  settings: {
    ice_servers: [
      { urls: ['stun:stun.example.org:3478'], username: '', credential: '' },
      { urls: ['turn:turn.example.org?transport=udp'], username: 'u"1', credential: 'p\\w' },
    ],
    advertised: ['198.51.100.7', '2001:db8::7'],
  },
})

interface Posted {
  status: number
  headers: Headers
  text: string
  /** Problem document of the answer. */
  problem: { status: number; reason: string; code?: number; title: string } | undefined
}

async function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Posted> {
  const response = await fetch(`${node().url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp', ...headers },
    body,
  })
  const text = await response.text()
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json')
  const problem = isProblem ? (JSON.parse(text) as NonNullable<Posted['problem']>) : undefined
  return { status: response.status, headers: response.headers, text, problem }
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** Publishes without ever connecting. */
async function publish(roomId: string, token: string, options: OfferOptions = {}, query = ''): Promise<Posted> {
  return await post(`/whip/${roomId}${query}`, offerSdp({ direction: 'sendonly', ...options }), bearer(token))
}

async function patch(session: string, fragment: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${node().url}${session}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/trickle-ice-sdpfrag', ...headers },
    body: fragment,
  })
  return response.status
}

/** Tells whether a session has ended: it accepts no more candidates, although DELETE still succeeds. */
async function isOver(posted: Posted): Promise<boolean> {
  const goodbye = await fetch(`${node().url}${location(posted)}`, { method: 'DELETE' })
  return goodbye.status === 200 && (await patch(location(posted), fragmentOf('gEzC'))) === 404
}

const candidate = 'a=candidate:1 1 UDP 2130706431 127.0.0.1 9 typ host'

/** Makes a trickle fragment (RFC 8840) with one candidate. */
function fragmentOf(userFragment: string): string {
  return `a=ice-ufrag:${userFragment}\r\na=ice-pwd:dEq3rCqSGhbLrkKGbzQPmtZC\r\nm=video 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n${candidate}\r\n`
}

/** Opens a socket to which only the node sends. */
async function udpSocket(): Promise<dgram.Socket> {
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}

const location = (posted: Posted): string => posted.headers.get('location') ?? ''

describe('publishing with WHIP', () => {
  test('an offer is answered with a session, its ETag and the ICE servers; the user is in the room until DELETE', async () => {
    await node().openRoom('pub')
    const posted = await publish('pub', node().token('pub', { userId: 'ann', userName: 'Ann' }))
    expect(posted.status).toBe(201)
    expect(posted.headers.get('content-type')).toBe('application/sdp')
    expect(posted.headers.get('etag')).toMatch(/^"[^"]+"$/)
    expect(posted.headers.get('accept-patch')).toBe('application/trickle-ice-sdpfrag')
    expect(posted.headers.get('access-control-expose-headers')).toContain('Location')
    const links = posted.headers.get('link') ?? ''
    expect(links).toContain('<stun:stun.example.org:3478>; rel="ice-server"')
    expect(links).toContain('<turn:turn.example.org?transport=udp>; rel="ice-server"; username="u\\"1"')
    expect(links).toContain('credential="p\\\\w"; credential-type="password"')
    expect(posted.text).toContain('a=recvonly')
    expect(posted.text).not.toContain('transport-cc')
    expect(await node().userIds('pub')).toEqual(['ann'])

    const gone = await fetch(`${node().url}${location(posted)}`, { method: 'DELETE' })
    expect(gone.status).toBe(200)
    expect(await node().userIds('pub')).toEqual([])
    await expect.poll(() => node().events).toContainEqual({ type: 'left', roomId: 'pub', userId: 'ann' })
    expect(await isOver(posted)).toBe(true)
  })

  test('advertised addresses replace the machine’s own, on the one UDP port', async () => {
    await node().openRoom('adv')
    const { text } = await publish('adv', node().token('adv'))
    const candidates = [...text.matchAll(/a=candidate:\S+ 1 UDP (\d+) (\S+) (\d+) typ host/g)]
    expect(candidates.map(([, , address]) => address)).toEqual(['198.51.100.7', '2001:db8::7'])
    expect(candidates.map(([, , , port]) => Number(port))).toEqual([node().udpPort, node().udpPort])
    expect(Number(candidates[0]?.[1])).toBeGreaterThan(Number(candidates[1]?.[1]))
  })

  test('the first supported codec of an offer is chosen', async () => {
    await node().openRoom('order')
    const taken = async (video: ('VP8' | 'H264' | 'AV1')[]): Promise<string | undefined> => {
      const { text } = await publish('order', node().token('order', { userId: 'ann' }), { video })
      return /a=rtpmap:\d+ (VP8|H264|AV1)/.exec(text)?.[1]
    }
    expect(await taken(['VP8', 'H264'])).toBe('VP8')
    expect(await taken(['H264', 'VP8'])).toBe('H264')
    expect(await taken(['AV1', 'H264', 'VP8'])).toBe('H264')
    const [stream] = (await node().request('stats', { roomId: 'order' })).streams
    expect(stream?.video_codec).toBe('H264')
  })

  test('the order is that of the media line, not of the attribute lines; G.711 needs no attributes', async () => {
    await node().openRoom('line')
    const offer = offerSdp({ direction: 'sendonly' })
      .replace('SAVPF 96 102', 'SAVPF 102 96')
      .replace('SAVPF 111 0', 'SAVPF 0 111')
      .replace('a=rtpmap:0 PCMU/8000\r\n', '')
    const { text } = await post('/whip/line', offer, bearer(node().token('line')))
    expect(text).toContain('SAVPF 102\r\n')
    expect(text).toContain('SAVPF 0\r\n')
    expect(text).toContain('a=rtpmap:0 PCMU/8000')
  })

  test('declined tracks keep the payload types of the offer', async () => {
    await node().openRoom('unwanted')
    const unwanted = ['m=video 9 UDP/TLS/RTP/SAVPF 45', 'c=IN IP4 0.0.0.0', 'a=sendonly', 'a=rtcp-mux', 'a=mid:2']
    const offer = `${offerSdp({ direction: 'sendonly' })}${[...unwanted, 'a=rtpmap:45 AV1/90000', ''].join('\r\n')}`
    const { text } = await post('/whip/unwanted', offer, bearer(node().token('unwanted')))
    expect(text.slice(text.indexOf('a=mid:2'))).toContain('a=inactive')
    expect([...text.matchAll(/a=rtpmap:45 (\S+)/g)].map(([, codec]) => codec)).toEqual(['AV1/90000'])

    const watched = offerSdp().replace('a=rtpmap:111 opus/48000/2', 'a=rtpmap:111 ILBC/8000').replace(' 0\r\n', '\r\n')
    await publish('unwanted', node().token('unwanted', { userId: 'bob' }), { audio: false })
    const seen = await post('/whep/unwanted/bob', watched, bearer(node().token('unwanted')))
    expect([...seen.text.matchAll(/a=rtpmap:111 (\S+)/g)].map(([, codec]) => codec)).toEqual(['ILBC/8000'])
  })

  test('an offer without a supported codec is refused with the reason', async () => {
    await node().openRoom('codecs')
    expect((await publish('codecs', node().token('codecs'), { video: ['AV1'], audio: false })).problem).toMatchObject({
      status: 406,
      reason: 'codec',
    })
    expect((await publish('codecs', node().token('codecs'), { direction: 'recvonly' })).problem?.reason).toBe('codec')
    expect(await node().userIds('codecs')).toEqual([])
  })

  test('a second publication of the same user replaces the first; a screen share is separate', async () => {
    await node().openRoom('twice', { maxVideo: 2, maxAudio: 2 })
    const token = node().token('twice', { userId: 'ann' })
    const first = await publish('twice', token)
    expect((await publish('twice', token)).status).toBe(201)
    expect(await isOver(first)).toBe(true)
    expect((await publish('twice', token, {}, '?source=screen')).status).toBe(201)
    const { streams } = await node().request('stats', { roomId: 'twice' })
    expect(streams.map(({ stream_id }) => stream_id)).toEqual(['ann', 'ann~screen'])
    expect(await node().userIds('twice')).toEqual(['ann'])
  })

  test('a peer-to-peer room accepts no publications', async () => {
    await node().openRoom('p2p', { mode: 3 })
    expect((await publish('p2p', node().token('p2p'))).problem).toMatchObject({ status: 409, reason: 'peerToPeer' })
    expect(await node().userIds('p2p')).toEqual([])
  })
})

describe('limits and admission', () => {
  test('507 in the body when the room is full, 800 for video, 801 for sound', async () => {
    await node().openRoom('full', { attendeeMax: 1 })
    expect((await publish('full', node().token('full'))).status).toBe(201)
    expect((await publish('full', node().token('full'))).problem).toMatchObject({ status: 403, code: 507 })

    await node().openRoom('videos', { maxVideo: 1, maxAudio: 9 })
    expect((await publish('videos', node().token('videos'))).status).toBe(201)
    expect((await publish('videos', node().token('videos'))).problem).toMatchObject({ status: 403, code: 800 })
    expect((await publish('videos', node().token('videos'), { video: [] })).status).toBe(201)

    await node().openRoom('audios', { maxVideo: 9, maxAudio: 1 })
    expect((await publish('audios', node().token('audios'))).status).toBe(201)
    expect((await publish('audios', node().token('audios'))).problem).toMatchObject({ status: 403, code: 801 })
    expect((await publish('audios', node().token('audios'), { audio: false })).status).toBe(201)
    // Refused users are not left in the room.
    expect(await node().userIds('videos')).toHaveLength(2)
    expect(await node().userIds('audios')).toHaveLength(2)
  })

  test('a locked room refuses new users and keeps its current ones', async () => {
    await node().openRoom('locked')
    const token = node().token('locked', { userId: 'ann' })
    await publish('locked', token)
    await node().openRoom('locked', { locked: true })
    expect((await publish('locked', node().token('locked'))).problem).toMatchObject({ status: 403, reason: 'locked' })
    expect((await publish('locked', token)).status).toBe(201)
  })

  test('a closed room no longer exists, and its sessions have ended', async () => {
    await node().openRoom('closed')
    const posted = await publish('closed', node().token('closed'))
    await node().request('close_room', { roomId: 'closed' })
    expect((await publish('closed', node().token('closed'))).problem).toMatchObject({ status: 404, reason: 'noRoom' })
    expect(await isOver(posted)).toBe(true)
    expect(await node().userIds('closed')).toEqual([])
  })

  test('a missing, foreign or expired token and one of another room are 401', async () => {
    await node().openRoom('doors')
    await node().openRoom('doors2')
    const valid = node().token('doors')
    const tokens = [
      '',
      'x',
      `${valid}x`,
      valid.replace('.', '..'),
      node().token('doors', { lifeMs: -1 }),
      node().token('doors2'),
    ]
    for (const token of tokens) {
      const refused = await post('/whip/doors', offerSdp({ direction: 'sendonly' }), token === '' ? {} : bearer(token))
      expect(refused.problem, token).toMatchObject({ status: 401, reason: 'unauthorised' })
      expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    }
    expect((await publish('doors', node().token('doors', { role: 'observer' }))).status).toBe(401)
    expect(await node().userIds('doors')).toEqual([])
  })

  test('a removed user is refused, and their older link stays refused', async () => {
    await node().openRoom('kick')
    const token = node().token('kick', { userId: 'ann' })
    const posted = await publish('kick', token)
    expect(await node().request('kick', { roomId: 'kick', userId: 'ann' })).toEqual({ kicked: true })
    expect(await node().request('kick', { roomId: 'kick', userId: 'ann' })).toEqual({ kicked: false })
    expect(await isOver(posted)).toBe(true)
    expect((await publish('kick', token)).problem).toMatchObject({ status: 403, reason: 'removed' })
    // A new link does not help before the ban is over either.
    const kickedAt = Date.now()
    await expect.poll(() => Date.now()).toBeGreaterThan(kickedAt)
    expect((await publish('kick', node().token('kick', { userId: 'ann' }))).problem?.reason).toBe('removed')
  })

  test('removing one of several publishers of a shared link leaves the link valid for the others', async () => {
    await node().openRoom('encoders')
    const open = node().token('encoders')
    const first = await publish('encoders', open)
    await publish('encoders', open)
    const [guest = '', other] = await node().userIds('encoders')
    expect(await node().request('kick', { roomId: 'encoders', userId: guest })).toEqual({ kicked: true })
    expect(await isOver(first)).toBe(true)
    expect(await node().userIds('encoders')).toEqual([other])
    expect((await publish('encoders', open)).status).toBe(201)
  })

  test('after the ban, a new link works and the old one does not', async () => {
    await using brief = await TestMediaNode.start({ settings: { ban_ms: 1 } })
    await brief.openRoom('kick')
    const old = brief.token('kick', { userId: 'ann' })
    const enter = async (token: string): Promise<number> => {
      const headers = { 'content-type': 'application/sdp', ...bearer(token) }
      const body = offerSdp({ direction: 'sendonly' })
      return (await fetch(`${brief.url}/whip/kick`, { method: 'POST', headers, body })).status
    }
    expect(await enter(old)).toBe(201)
    await brief.request('kick', { roomId: 'kick', userId: 'ann' })
    const kickedAt = Date.now()
    await expect.poll(() => Date.now()).toBeGreaterThan(kickedAt + 1)
    expect(await enter(old)).toBe(403)
    expect(await enter(brief.token('kick', { userId: 'ann' }))).toBe(201)
  })
})

describe('watching with WHEP', () => {
  test('a viewer needs a stream and a common codec, and is a member of the room; an observer is not', async () => {
    await node().openRoom('watch')
    await publish('watch', node().token('watch', { userId: 'ann' }), { video: ['VP8'] })
    const watch = async (stream: string, role: 'member' | 'observer', options: OfferOptions = {}): Promise<Posted> =>
      await post(`/whep/watch/${stream}`, offerSdp(options), bearer(node().token('watch', { role })))
    expect((await watch('nobody', 'member')).problem).toMatchObject({ status: 404, reason: 'noStream' })
    expect((await watch('ann', 'member', { video: ['H264'] })).problem).toMatchObject({ status: 406, reason: 'codec' })
    expect(await node().userIds('watch')).toEqual(['ann'])
    const observed = await watch('ann', 'observer')
    expect(observed.status).toBe(201)
    expect(observed.text).toContain('a=sendonly')
    expect(await node().userIds('watch')).toEqual(['ann'])
    const seen = await watch('ann', 'member')
    expect(await node().userIds('watch')).toHaveLength(2)
    await fetch(`${node().url}${location(seen)}`, { method: 'DELETE' })
    expect(await node().userIds('watch')).toEqual(['ann'])
  })
})

describe('the protocol', () => {
  test('candidates arrive later by PATCH; another ICE session, a stale ETag and another content type are refused', async () => {
    await node().openRoom('patch')
    const posted = await publish('patch', node().token('patch'), { userFragment: '7777' })
    const session = location(posted)
    const etag = posted.headers.get('etag') ?? ''
    const fragment = fragmentOf('7777')
    expect(await patch(session, fragment)).toBe(204)
    expect(await patch(session, fragment.replace('m=video 9 UDP/TLS/RTP/SAVPF 0\r\n', ''))).toBe(204)
    expect(await patch(session, fragment.replace(candidate, 'a=end-of-candidates'))).toBe(204)
    expect(await patch(session, fragment.replace('127.0.0.1', '4e1c-9a.local'))).toBe(204)
    expect(await patch('/session/none', fragment)).toBe(404)
    for (const match of [etag, '*', '"*"', `"other", ${etag}`, `W/"other",${etag}`, ` "a,b" , ${etag} `]) {
      expect([match, await patch(session, fragment, { 'if-match': match })]).toEqual([match, 204])
    }
    // A weak tag never matches (RFC 9110, section 8.8.3.2).
    for (const match of ['"other"', `W/${etag}`, etag.replaceAll('"', ''), '"other", "*x"']) {
      expect([match, await patch(session, fragment, { 'if-match': match })]).toEqual([match, 412])
    }
  })

  test('a browser that hides its address behind a name is called at the source address of its request', async () => {
    await node().openRoom('hidden')
    const [told, later] = await Promise.all([udpSocket(), udpSocket()])
    try {
      const hidden = (port: number, transport = 'udp'): string =>
        `a=candidate:1 1 ${transport} 2113942271 9fd3f717-1fb8-491b.local ${port} typ host`
      const called = async (socket: dgram.Socket): Promise<Buffer> => {
        const [packet] = (await once(socket, 'message', { signal: AbortSignal.timeout(5_000) })) as [Buffer]
        return packet
      }
      const first = called(told)
      const candidates = [hidden(later.address().port, 'tcp'), hidden(told.address().port)]
      const posted = await publish('hidden', node().token('hidden'), { userFragment: '7777', candidates })
      const fragment = /a=ice-ufrag:(.*)\r\n/.exec(posted.text)?.[1] ?? ''
      // A check of the node (RFC 8445, section 7.2.2), although the browser has not sent one.
      expect((await first).toString('latin1')).toContain(`7777:${fragment}`)
      const second = called(later)
      await patch(location(posted), fragmentOf('7777').replace(candidate, hidden(later.address().port)))
      expect((await second).toString('latin1')).toContain(`7777:${fragment}`)
    } finally {
      told.close()
      later.close()
    }
  })

  test('ICE restarts: with new fragments, a new ETag and the addresses of the node, any number of times', async () => {
    await node().openRoom('restart')
    const posted = await publish('restart', node().token('restart'), { userFragment: '7777' })
    const session = location(posted)
    const restart = async (userFragment: string, headers: Record<string, string>): Promise<Response> =>
      await fetch(`${node().url}${session}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/trickle-ice-sdpfrag', ...headers },
        body: fragmentOf(userFragment),
      })
    const names = [/a=ice-ufrag:.*/.exec(posted.text)?.[0]]
    const tags = [posted.headers.get('etag')]
    for (const match of ['*', '"*"']) {
      const answer = await restart(`8888${names.length}`, { 'if-match': match })
      const fragment = await answer.text()
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/trickle-ice-sdpfrag'])
      expect(fragment).toMatch(
        /^a=ice-ufrag:[A-Za-z0-9+/]{8}\r\na=ice-pwd:[A-Za-z0-9+/]{24}\r\nm=\S+ .*\r\na=mid:0\r\n/,
      )
      const addresses = [...fragment.matchAll(/a=candidate:\S+ 1 UDP \d+ (\S+) \d+ typ host/g)]
      expect(addresses.map(([, address]) => address)).toEqual(['198.51.100.7', '2001:db8::7'])
      names.push(/a=ice-ufrag:.*/.exec(fragment)?.[0])
      tags.push(answer.headers.get('etag'))
    }
    expect([new Set(names).size, new Set(tags).size]).toEqual([3, 3])
    // Candidates of the previous ICE session are stale; those of the current one are accepted.
    expect(await patch(session, fragmentOf('88882'), { 'if-match': tags[1] ?? '' })).toBe(412)
    expect(await patch(session, fragmentOf('88882'), { 'if-match': tags[2] ?? '' })).toBe(204)
    expect(await patch(session, fragmentOf('999'))).toBe(400)
    expect(await patch(session, fragmentOf('9999').replace(/a=ice-pwd:.*/, 'a=ice-pwd:short'))).toBe(400)
    expect(await patch(session, fragmentOf('9999').replace(/a=ice-pwd:.*\r\n/, ''))).toBe(400)
  })

  test.each([
    ['nothing', ''],
    ['no lines of SDP', 'hello'],
    ['an invalid candidate', fragmentOf('7777').replace(candidate, 'a=candidate:nonsense')],
    ['a candidate on no port', fragmentOf('7777').replace(' 9 typ', ' 70000 typ')],
    ['a section that the offer lacks', fragmentOf('7777').replace('a=mid:0', 'a=mid:9')],
    ['an invalid user fragment', fragmentOf('7777').replace('a=ice-ufrag:7777', 'a=ice-ufrag:7 7')],
  ])('a fragment with %s is 400, and the session goes on', async (_what, fragment) => {
    await node().openRoom('broken')
    const token = node().token('broken', { userId: 'ann' })
    const session = location(await publish('broken', token, { userFragment: '7777' }))
    expect(await patch(session, fragment)).toBe(400)
    expect(await patch(session, fragmentOf('7777'))).toBe(204)
  })

  test('an answer to another content type names the accepted one', async () => {
    await node().openRoom('taken')
    const headers = { ...bearer(node().token('taken')), 'content-type': 'text/plain' }
    const refused = await post('/whip/taken', 'v=0', headers)
    expect([refused.status, refused.headers.get('accept-post')]).toEqual([415, 'application/sdp'])
    expect(refused.headers.get('access-control-expose-headers')).toContain('Accept-Post')
    const session = `${node().url}${location(await publish('taken', node().token('taken')))}`
    const patched = await fetch(session, { method: 'PATCH', body: 'v=0', headers: { 'content-type': 'text/plain' } })
    const accepted = 'application/trickle-ice-sdpfrag'
    expect([patched.status, patched.headers.get('accept-patch')]).toEqual([415, accepted])
    const options = await fetch(session, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('accept-patch')]).toEqual([204, accepted])
    expect((await fetch(`${node().url}/whip/taken`, { method: 'OPTIONS' })).headers.get('accept-post')).toBe(
      'application/sdp',
    )
  })

  test.each([
    ['empty', ''],
    ['no SDP', 'hello'],
    ['no media', 'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n'],
    ['no ICE', offerSdp({ direction: 'sendonly' }).replace(/a=ice-.*\r\n/g, '')],
    ['no fingerprint', offerSdp({ direction: 'sendonly' }).replace(/a=fingerprint.*\r\n/g, '')],
    ['a broken fingerprint', offerSdp({ direction: 'sendonly' }).replace(/sha-256 4A/g, 'sha-256 ZZ')],
    ['no mid', offerSdp({ direction: 'sendonly' }).replace(/a=mid.*\r\n/g, '')],
    ['a hundred sections', offerSdp({ direction: 'sendonly' }) + 'm=audio 9 UDP/TLS/RTP/SAVPF 0\r\n'.repeat(100)],
    ['a mid twice', offerSdp({ direction: 'sendonly' }).replace('a=mid:1', 'a=mid:0')],
    ['only zeros', '\0'.repeat(100)],
  ])('an offer with %s is 400 and leaves nobody behind', async (_what, sdp) => {
    await node().openRoom('bad')
    const refused = await post('/whip/bad', sdp, bearer(node().token('bad')))
    expect(refused.problem).toMatchObject({ status: 400, reason: 'badOffer' })
    expect(await node().userIds('bad')).toEqual([])
    expect((await post('/whep/bad/any', sdp, bearer(node().token('bad')))).status).toBeLessThan(500)
  })

  test('another content type is 415, a body that is too long 413, another method 405 with the allowed ones', async () => {
    await node().openRoom('http')
    const headers = bearer(node().token('http'))
    expect((await post('/whip/http', '{}', { ...headers, 'content-type': 'application/json' })).status).toBe(415)
    expect((await post('/whip/http', 'v'.repeat(70_000), headers)).status).toBe(413)
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD']) {
      const response = await fetch(`${node().url}/whip/http`, { method })
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST, OPTIONS'])
    }
    const session = location(await publish('http', node().token('http')))
    const response = await fetch(`${node().url}${session}`, { method: 'POST' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'DELETE, PATCH, OPTIONS'])
    expect((await fetch(`${node().url}/nothing`)).status).toBe(404)
    expect((await fetch(`${node().url}/whip/%E0%A4%A`, { method: 'POST' })).status).toBeLessThan(500)
  })

  test('a page of another origin may send requests', async () => {
    const response = await fetch(`${node().url}/whep/any/one`, {
      method: 'OPTIONS',
      headers: { origin: 'https://example.org', 'access-control-request-method': 'POST' },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-methods')).toContain('PATCH')
    expect(response.headers.get('access-control-allow-headers')).toContain('Authorization')
    expect(response.headers.get('accept-post')).toBe('application/sdp')
    const refused = await post('/whip/none', offerSdp(), { origin: 'https://example.org' })
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('the page is served, and no other files', async () => {
    const page = await fetch(`${node().url}/?roomId=7`, { redirect: 'manual' })
    expect(page.headers.get('location')).toBe('/room/?roomId=7')
    expect((await fetch(`${node().url}/room/`)).headers.get('content-security-policy')).toContain("default-src 'self'")
    for (const path of ['/room/..%2fmedia-node.ts', '/room/%2e%2e/offer.ts', '/room/%00', '/room/nothing.js']) {
      expect((await fetch(`${node().url}${path}`)).status, path).toBe(404)
    }
  })
})
