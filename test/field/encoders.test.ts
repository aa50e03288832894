import ndc from 'node-datachannel'
import { describe, expect, test, vi } from 'vitest'
import { answeredOffer, MediaRefusedError } from '../support/media/answered-offer.ts'
import { FieldEncoder } from '../support/field/field-encoder.ts'
import { fieldFilm } from '../support/field/field-film.ts'
import { FieldViewer } from '../support/field/field-viewer.ts'
import { emptyPadding, marked, type Packer, payloadsOf, usualPacker } from '../support/field/packing.ts'
import { receivedPictures } from '../support/field/received-pictures.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { shared } from '../support/fixtures.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const node = shared(() => TestMediaNode.start())
const film = shared(async () => {
  const film = await fieldFilm('plain')
  await node().openRoom('field')
  return film
})

const packings: Readonly<Record<string, Packer>> = {
  'names its parameter sets in its offer only': ({ units }) => marked(payloadsOf(units)),
  'sets no marker': (...picture) => usualPacker(...picture).map((packet) => ({ ...packet, marker: false })),
  'sets the marker on each packet': (...picture) =>
    usualPacker(...picture).map((packet) => ({ ...packet, marker: true })),
  'marks packets as padded that have no padding': emptyPadding,
}

/** Puts the section of a kind behind the other one, without a transport of its own (RFC 9143, section 6). */
function bundledOnly(sdp: string, kind: 'video' | 'audio'): string {
  const [session = '', ...sections] = sdp.split(/^(?=m=)/m)
  const isOnly = (section: string): boolean => section.startsWith(`m=${kind}`)
  const only = sections
    .filter(isOnly)
    .map(
      (section) =>
        `${section
          .replace(/^m=(\w+) \d+/, 'm=$1 0')
          .replace(/^a=(?:ice|fingerprint|setup|candidate|end-of-candidates).*\r\n/gm, '')}a=bundle-only\r\n`,
    )
  return [session, ...sections.filter((section) => !isOnly(section)), ...only].join('')
}

describe('an encoder that publishes by WHIP', () => {
  test.each(Object.entries(packings))('%s is seen', async (_how, packing) => {
    await using _ = await FieldEncoder.publish(
      `${node().url}/whip/field`,
      node().token('field', { userId: 'encoder' }),
      {
        film: film(),
        packing,
      },
    )
    const viewer = await FieldViewer.open(
      `${node().url}/whep/field/encoder`,
      node().token('field', { role: 'observer' }),
    )
    await expect
      .poll(() => receivedPictures(viewer.pictures, film(), false).inRow, { timeout: 15_000 })
      .toBeGreaterThan(14)
    await viewer.close()
  })

  test.each(['picture', 'sound'])(
    'offers its %s for the transport of the other section only (bundle-only)',
    async (which) => {
      const kind = which === 'picture' ? 'video' : 'audio'
      await using _ = await FieldEncoder.publish(
        `${node().url}/whip/field`,
        node().token('field', { userId: 'bundled' }),
        {
          film: film(),
          sound: 'opus',
          offer: (sdp) => bundledOnly(sdp, kind),
        },
      )
      const viewer = await FieldViewer.open(
        `${node().url}/whep/field/bundled`,
        node().token('field', { role: 'observer' }),
      )
      await expect
        .poll(() => receivedPictures(viewer.pictures, film(), false).inRow, { timeout: 15_000 })
        .toBeGreaterThan(14)
      await viewer.close()
    },
  )

  test.each(['H265', 'AV1'] as const)('offers %s: the whole offer is refused, with the codec', async (codec) => {
    const published = FieldEncoder.publish(`${node().url}/whip/field`, node().token('field', { userId: 'other' }), {
      film: film(),
      codec,
    })
    await expect(published).rejects.toThrow(MediaRefusedError)
    await expect(published).rejects.toThrow(codec === 'H265' ? /H\.?265/ : /AV1/)
  })
})

describe('a viewer that offers H.264', () => {
  const changes: Readonly<Record<string, (sdp: string) => string>> = {
    'without format parameters': (sdp) => sdp.replace(/a=fmtp:.*\r\n/g, ''),
    'of packetization mode 0': (sdp) => sdp.replaceAll('packetization-mode=1', 'packetization-mode=0'),
  }
  test.each(Object.entries(changes))('%s is answered', async (_how, offer) => {
    await using _ = await FieldEncoder.publish(
      `${node().url}/whip/field`,
      node().token('field', { userId: 'encoder' }),
      {
        film: film(),
      },
    )
    await expect.poll(async () => await node().userIds('field')).toContain('encoder')
    const connection = new ndc.PeerConnection('viewer', { iceServers: [], disableAutoNegotiation: true })
    const video = new ndc.Video('0', 'RecvOnly')
    video.addH264Codec(96, 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f')
    const track = connection.addTrack(video)
    track.onClosed(() => {})
    const token = node().token('field', { role: 'observer' })
    await expect(answeredOffer(connection, `${node().url}/whep/field/encoder`, token, { offer })).resolves.toContain(
      'http',
    )
    track.close()
    connection.close()
  })
})
