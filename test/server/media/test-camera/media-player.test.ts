import { expect, onTestFinished, test, vi } from 'vitest'
import { Lifetime } from '../../../../server/media/base/lifetime.ts'
import { ActiveBehaviours } from '../../../../server/media/test-camera/active-behaviours.ts'
import { pictureClips } from '../../../../server/media/test-camera/clip.ts'
import { MediaPlayer } from '../../../../server/media/test-camera/media-player.ts'

/** NAL unit types of H.264: a sequence parameter set precedes each key picture. */
const setType = 7

test('A receiver that asks for a key picture gets it next; many requests count once', async () => {
  const lifetime = new Lifetime((error) => expect.fail(String(error)))
  onTestFinished(() => lifetime.end())
  /** Whether each picture so far is a key picture, by its timestamp. */
  const pictures = new Map<number, boolean>()
  const media = (packet: Buffer): void => {
    const timestamp = packet.readUInt32BE(4)
    if (!pictures.has(timestamp) && [3, 5].includes(pictures.size + 1)) setImmediate(ask)
    const isKey = ((packet[12] ?? 0) & 0x1f) === setType
    pictures.set(timestamp, isKey || pictures.get(timestamp) === true)
  }
  const transport = { media, report: () => {} }
  const picture = { clips: await pictureClips('h264'), isSmall: true, payloadType: 96, transport }
  const player = new MediaPlayer(
    { picture, sound: undefined, stray: undefined },
    new ActiveBehaviours({ behaviours: [] }),
  )
  const ask = (): void => {
    for (let request = 0; request < 5; request++) player.sendKeyPicture()
  }
  player.start(lifetime)
  await vi.waitFor(() => expect(pictures.size).toBeGreaterThanOrEqual(6), 5_000)
  expect([...pictures.values()].slice(0, 6)).toEqual([true, false, false, true, false, false])
})
