import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { startTestCamera } from '../../../support/camera/test-camera.ts'

const run = promisify(execFile)
const hasProgram = (name: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
const limits = { timeout: 30_000 }

describe.skipIf(!hasProgram('ffprobe'))('ffprobe', () => {
  test.each([
    ['h264', 'aac', 'tcp', 'h264,640,360\naac,16000'],
    ['h265', 'opus', 'udp', 'hevc,640,360\nopus,48000'],
    ['mjpeg', 'pcma', 'tcp', 'mjpeg,320,192\npcm_alaw,8000'],
  ] as const)(
    'reads %s with %s over %s',
    async (codec, sound, transport, expected) => {
      using camera = await startTestCamera({ codec, sound, auth: 'digest' })
      const url = camera.url.replace('rtsp://', 'rtsp://admin:admin@')
      const show = ['-show_entries', 'stream=codec_name,width,height,sample_rate', '-of', 'csv=p=0']
      const { stdout } = await run('ffprobe', ['-v', 'error', '-rtsp_transport', transport, ...show, url], limits)
      expect(stdout.trim()).toBe(expected)
    },
    40_000,
  )
})

describe.skipIf(!hasProgram('gst-launch-1.0'))('GStreamer', () => {
  test.each(['tcp', 'udp'])(
    'decodes pictures over %s',
    async (transport) => {
      using camera = await startTestCamera({ auth: 'basic' })
      const source = ['rtspsrc', `location=${camera.url}`, `protocols=${transport}`, 'user-id=admin', 'user-pw=admin']
      const decoder = ['!', 'rtph264depay', '!', 'avdec_h264', '!', 'fakesink', 'num-buffers=20']
      await run('gst-launch-1.0', ['-q', ...source, ...decoder], limits)
    },
    40_000,
  )
})
