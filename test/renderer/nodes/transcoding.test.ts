import { expect, test } from 'vitest'
import TranscodingFacts from '../../../renderer/console/pages/nodes/TranscodingFacts.vue'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import type { TranscodingStatus } from '../../../shared/media/transcoding.ts'
import { answeringConsole } from '../answering-console.ts'
import { pageText, says, show } from '../devices/operator-page.ts'

const ready: TranscodingStatus = {
  state: 'ready',
  version: '7.1.2',
  problem: '',
  install: 'apt-get install ffmpeg',
  pictures: { used: 1, limit: 4 },
  sound: { used: 3, limit: 32 },
}

/** Shows the section of the node `here` with its reported status, beside another node with a different one. */
function facts(status: Partial<TranscodingStatus> | undefined) {
  const all = [
    { node: 'other', ...ready, version: '5.0' },
    ...(status === undefined ? [] : [{ node: 'here', ...ready, ...status }]),
  ]
  return show(
    TranscodingFacts,
    answeringConsole(() => all),
    { node: 'here' },
  )
}

test('installed ffmpeg is shown with its version and the transcoders in use', async () => {
  const shown = facts({})
  await says('version 7.1.2')
  await says('1 of 4 in use')
  await says('3 of 32 in use')
  expect(shown.html()).toContain('width: 25%')
  expect(pageText()).not.toMatch(/5\.0|apt-get/)
})

test('missing ffmpeg is shown with how and why to install it, and no transcoder in use', async () => {
  facts({ state: 'missing', version: '' })
  await says('not found on this machine')
  await says('apt-get install ffmpeg')
  await says('Lets every browser play H.265, Motion JPEG, B-frames and AAC')
  expect(pageText()).not.toContain('in use')
})

test('ffmpeg without an encoder, ffmpeg that cannot start, and transcoding switched off are distinguished', async () => {
  const incomplete = facts({ state: 'incomplete' })
  await says('version 7.1.2, encoders missing')
  await says('Requires the encoders for H.264 (libx264) and Opus (libopus).')
  incomplete.unmount()
  const broken = facts({ state: 'missing', problem: '/opt/ffmpeg: permission denied' })
  await says('/opt/ffmpeg: permission denied')
  broken.unmount()
  facts({ state: 'off' })
  await says('turned off in the settings')
})

test('the section is translated to Chinese, and a node that does not answer has none', async () => {
  await showLanguage('zh')
  const shown = facts({})
  await says('浏览器无法播放的摄像头')
  await says('已用 1 / 4')
  shown.unmount()
  const silent = facts(undefined)
  await Promise.resolve()
  expect(silent.text()).toBe('')
  await showLanguage('en')
})
