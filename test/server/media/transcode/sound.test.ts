import { parseDeviceAddress } from '../../../../shared/device-address.ts'
import { describe, expect, test as base } from 'vitest'
import { probe } from '../../../../server/media/rtsp/rtsp-probe.ts'
import { AllowedAddresses } from '../../../../server/media/rtsp/allowed-addresses.ts'
import { Transcoding } from '../../../../server/media/transcode/transcoding.ts'
import { startCamera } from '../../../support/camera/camera.ts'
import { complaintLog } from '../../../support/media/complaints.ts'
import { toneOf } from '../../../support/media/heard-sound.ts'
import { ffmpegRunner } from '../../../support/media/own-ffmpeg.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'
import { WhepPeer } from '../../../support/media/whep-peer.ts'
import { disposed } from '../../../support/fixtures.ts'

const test = base.extend('camera', { scope: 'file' }, async ({}, { onCleanup }) =>
  disposed(onCleanup, await startCamera({ width: 160, height: 90, fps: 5 })),
)

describe('a camera whose sound is AAC', () => {
  test('is heard in Opus by every viewer if ffmpeg is installed, and its pictures pass unchanged', async ({
    camera,
  }) => {
    await using node = await TestMediaNode.start()
    await node.openRoom('room')
    await node.addDevice('room', 'cam', camera.url('/aac'))
    expect(await node.stream('room', 'cam')).toMatchObject({
      video_codec: 'H264',
      audio_codec: 'OPUS',
      audio_bytes: 0,
      conversion: { from: 'AAC', state: 'idle', problem: '' },
      shortcomings: [],
    })
    const frames: Buffer[] = []
    const enough = Promise.withResolvers<void>()
    const token = node.token('room', { role: 'observer' })
    const viewer = await WhepPeer.open(`${node.url}/whep/room/cam`, token, (packet) => {
      if (((packet[1] ?? 0) & 0x7f) === 111) frames.push(packet.subarray(12))
      if (frames.length === 60) enough.resolve()
    })
    await enough.promise
    expect(await toneOf(frames)).toBeCloseTo(440, -1)
    await expect
      .poll(async () => await node.request('transcoding', {}))
      .toMatchObject({
        state: 'ready',
        pictures: { used: 0, limit: 4 },
        sound: { used: 1, limit: 32 },
      })
    await viewer.close()
  })

  test('without ffmpeg: a probe names the missing program, and says that the pictures can be seen', async ({
    camera,
  }) => {
    const transcoding = new Transcoding(ffmpegRunner('/nowhere/ffmpeg'), 4, complaintLog())
    expect(await transcoding.status()).toMatchObject({
      state: 'missing',
      problem: expect.stringContaining('/nowhere/ffmpeg'),
      install: expect.stringContaining('install ffmpeg'),
    })
    const allowed = new AllowedAddresses({ networks: [], sitePorts: [], siteAddresses: [] })
    const options = { trustAnyCertificate: false, answerMs: 5_000, allowed, log: complaintLog() }
    const abilities = async () => await transcoding.abilities()
    const never = new AbortController().signal
    expect(
      await probe(
        { address: parseDeviceAddress(camera.url('/aac')), login: undefined },
        { ...options, abilities },
        never,
      ),
    ).toMatchObject({
      ok: true,
      tracks: [
        { codec: 'H264', carried: true, way: 'direct', reason: null },
        { codec: 'MPEG4-GENERIC', carried: false, way: 'needs_ffmpeg', reason: 'aac' },
      ],
    })
  })
})
