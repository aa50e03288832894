import { expect, test } from 'vitest'
import { HostileCamera } from '../../../support/camera/hostile-camera.ts'
import { h264Description } from '../../../support/camera/scripted-camera.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'

const sound = ['m=audio 0 RTP/AVP 8', 'a=control:track2', ''].join('\r\n')

test('a sound track that the camera refuses is reported with its answer, on the stream and as an event', async () => {
  await using camera = await HostileCamera.start({
    SETUP: (caller, request) => {
      if (request.url.endsWith('track2')) caller.answer(request, { startLine: 'RTSP/1.0 551 Option not supported' })
      else caller.usual(request)
    },
  })
  camera.description = h264Description + sound
  await using node = await TestMediaNode.start()
  await node.openRoom('room')
  await node.addDevice('room', 'cam', camera.url)
  const refused = {
    ...{ kind: 'audio', way: 'refused', reason: 'refused', recorded: false },
    detail: '551 Option not supported to SETUP of track 2 (G.711 A-law)',
  }
  expect(await node.stream('room', 'cam')).toMatchObject({ audio_codec: '', shortcomings: [refused] })
  await expect
    .poll(() => node.events.filter(({ type }) => type === 'streamShort'))
    .toEqual([{ type: 'streamShort', roomId: 'room', userId: 'cam', shortcomings: [refused] }])
})
