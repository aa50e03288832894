import { expect, test } from 'vitest'
import { MediaSessions, type SessionPeer, takeFragment } from '../../../../server/media/http/media-sessions.ts'
import { parseOffer } from '../../../../server/media/webrtc/offer.ts'
import { offerSdp } from '../../../support/media/offer.ts'

const udp = (address: string, port = 50_000): string => `candidate:1 1 udp 2122260223 ${address} ${port} typ host`

/** Returns the candidates of an offer that the node would call. */
function calledOf(client: string, candidates: readonly string[]): string[] {
  const sdp = `${offerSdp()}${candidates.map((candidate) => `a=${candidate}\r\n`).join('')}`
  return Array.from(
    parseOffer(sdp, client).sdp.matchAll(/^a=candidate:.*? (\S+) (\d+) typ/gm),
    ([, host]) => host ?? '',
  )
}

/** Returns the candidates sent after the offer that the node would call. */
async function calledLater(client: string, candidates: readonly string[], janus = false): Promise<string[]> {
  const called: string[] = []
  const offer = parseOffer(offerSdp(), client)
  const peer: SessionPeer = {
    close: () => {},
    addCandidate: (candidate) => void called.push(candidate),
    ...(janus && {
      trickle: async (taken) => void called.push(...taken.map(({ candidate }) => candidate)),
    }),
  }
  const session = new MediaSessions().add(peer, offer)
  await takeFragment(session, candidates.map((candidate) => `a=${candidate}\r\n`).join(''))
  return called.map((candidate) => candidate.split(' ')[4] ?? '')
}

const hostile = ['0.0.0.0', '127.0.0.1', '127.8.8.8', '169.254.169.254', '224.0.0.251', '255.255.255.255', '::', '::1']
const hostileToo = ['fe80::1', 'ff02::fb', '::ffff:127.0.0.1', '::ffff:7f00:1', 'database.internal']

for (const [way, called] of [
  ['in its offer', async (client: string, candidates: readonly string[]) => calledOf(client, candidates)],
  ['after its offer', calledLater],
  ['to a room on Janus', (client: string, all: readonly string[]) => calledLater(client, all, true)],
] as const) {
  test(`a guest who sends addresses ${way} cannot make the node connect to itself, its link-local addresses or a name`, async () => {
    for (const client of ['203.0.113.9', '192.168.1.20', '']) {
      expect(
        await called(
          client,
          [...hostile, ...hostileToo].map((address) => udp(address)),
        ),
      ).toEqual([])
    }
  })

  test(`a guest from the Internet who sends addresses ${way} cannot make the node connect to the network of the site`, async () => {
    const inside = ['10.0.0.5', '172.20.1.1', '192.168.1.1', '100.64.0.1', 'fd00::5', '::ffff:10.0.0.5']
    expect(
      await called(
        '203.0.113.9',
        [...inside, '198.51.100.7', '2001:db8::7'].map((address) => udp(address)),
      ),
    ).toEqual(['198.51.100.7', '2001:db8::7'])
    // On the site's own network they are normal, and so is a VPN beside it.
    expect(
      await called(
        '192.168.1.20',
        inside.map((address) => udp(address)),
      ),
    ).toEqual(inside)
  })

  test(`no check goes to ports of services or to TCP for a guest who sends them ${way}`, async () => {
    const named = [
      udp('192.168.1.20', 53),
      udp('192.168.1.20', 1_023),
      udp('192.168.1.20', 1_024),
      'candidate:1 1 tcp 1518280447 192.168.1.20 9000 typ host tcptype passive',
    ]
    expect(await called('192.168.1.20', named)).toEqual(['192.168.1.20'])
  })

  test(`of many addresses sent ${way} 24 per session are checked`, async () => {
    const many = Array.from({ length: 100 }, (_, index) => udp(`10.0.0.${index + 1}`))
    expect(await called('10.0.0.200', many)).toHaveLength(24)
  })
}

test('addresses of the offer and later ones share the limit', async () => {
  const sdp = `${offerSdp()}${Array.from({ length: 20 }, (_, index) => `a=${udp(`10.0.0.${index + 1}`)}\r\n`).join('')}`
  const called: string[] = []
  const peer: SessionPeer = { close: () => {}, addCandidate: (candidate) => void called.push(candidate) }
  const session = new MediaSessions().add(peer, parseOffer(sdp, '10.0.0.200'))
  for (let index = 0; index < 20; index++) await takeFragment(session, `a=${udp(`10.0.1.${index + 1}`)}\r\n`)
  expect(called).toHaveLength(4)
})

test('a browser on the machine of the node is reached at its loopback address', () => {
  expect(calledOf('127.0.0.1', [udp('127.0.0.1'), udp('192.168.1.20')])).toEqual(['127.0.0.1', '192.168.1.20'])
})
