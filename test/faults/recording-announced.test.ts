import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { languages } from '../../shared/languages.ts'
import { RoomSite, Visitor } from '../support/sites/room-site.ts'

/** Voices of the machine are simulated: Chromium has none here. Notes what a page says by them, in which language, instead of saying it. */
const withVoices = `(() => {
  globalThis.spoken = []
  const voices = ['en-US', 'zh-CN'].map((lang) => ({ lang, localService: true }))
  speechSynthesis.getVoices = () => [...voices, { lang: 'de-DE', localService: false }]
  globalThis.SpeechSynthesisUtterance = class extends EventTarget {
    constructor(text) { super(); this.text = text }
  }
  speechSynthesis.speak = (said) => {
    spoken.push(said.lang + ': ' + said.text)
    if (globalThis.engineFails) said.dispatchEvent(new Event('error'))
  }
})()`

/** Keeps the sounds that a page plays from files. */
const noteFiles = `(() => {
  globalThis.played = []
  globalThis.Audio = class extends Audio {
    constructor(file) {
      super(file)
      if (file !== undefined) played.push(this)
    }
  }
})()`

const announcements = await Promise.all(
  languages.map(async ({ id }) => {
    const path = join(import.meta.dirname, '../../texts', id, 'recording-on.mp3')
    return { language: id, sound: await readFile(path) }
  }),
)

/** Joins with a browser of a language. */
async function joined(
  site: RoomSite,
  roomId: string,
  name: string,
  locale: string,
  ...scripts: string[]
): Promise<Visitor> {
  const page = await site.window('fake', { locale })
  await page.addInitScript(noteFiles)
  for (const script of scripts) await page.addInitScript(script)
  const visitor = new Visitor(page)
  await page.goto(await site.link(roomId))
  await page.getByRole('textbox').first().fill(name)
  await visitor.enter()
  return visitor
}

const spokenBy = ({ page }: Visitor): Promise<string[]> => page.evaluate<string[]>('spoken')
/** Languages of the files that were played to their end. */
async function heardBy({ page }: Visitor): Promise<string[]> {
  const files = await page.evaluate<string[]>(
    `played.map((file) => (file.ended && file.currentTime > 1 ? file.src : ''))`,
  )
  return await Promise.all(
    files.map(async (file) => {
      if (file === '') return 'not yet'
      const body = await (await page.request.get(file)).body()
      return announcements.find(({ sound }) => sound.equals(body))?.language ?? 'unknown'
    }),
  )
}

test('Everybody in a room hears once, in the voice of their device and the language of their page, that it is recorded; a site may show the notice only', {
  timeout: 120_000,
}, async () => {
  const site = await RoomSite.start()
  onTestFinished(() => site[Symbol.asyncDispose]())
  const { controller } = site
  const roomId = await site.room({ topic: 'Weekly' })
  const anna = await joined(site, roomId, 'Anna', 'en-GB', withVoices)
  const min = await joined(site, roomId, 'Min', 'zh-CN', withVoices)
  expect([await spokenBy(anna), await spokenBy(min)]).toEqual([[], []])
  await controller.rpc('recordings.start', { room_id: roomId })
  const [english, chinese] = [['en-US: This meeting is being recorded'], ['zh-CN: 本次会议正在录制']]
  await expect.poll(() => spokenBy(anna)).toEqual(english)
  await expect.poll(() => spokenBy(min)).toEqual(chinese)
  // A late comer hears it on entering; the others do not hear it again.
  const late = await joined(site, roomId, 'Late', 'en-GB', withVoices)
  await expect.poll(() => spokenBy(late)).toEqual(english)
  expect([await spokenBy(anna), await spokenBy(min)]).toEqual([english, chinese])

  await controller.rpc('recordings.stop', { room_id: roomId })
  await anna.page.getByText('Recording', { exact: true }).waitFor({ state: 'detached' })
  await controller.rpc('settings.set', { recording: { announce: false } })
  const quiet = await joined(site, roomId, 'Quiet', 'en-GB', withVoices)
  await controller.rpc('recordings.start', { room_id: roomId })
  await quiet.page.getByText('Recording', { exact: true }).waitFor()
  expect(await spokenBy(quiet)).toEqual([])
  for (const visitor of [anna, min, late, quiet]) {
    expect(await heardBy(visitor)).toEqual([])
    expect(visitor.problems).toEqual([])
  }
})

test('Without a voice for the language, or if the voice fails, everybody hears the announcement from a file, once', {
  timeout: 120_000,
}, async () => {
  const site = await RoomSite.start()
  onTestFinished(() => site[Symbol.asyncDispose]())
  const roomId = await site.room({ topic: 'Weekly' })
  const anna = await joined(site, roomId, 'Anna', 'en-GB')
  const min = await joined(site, roomId, 'Min', 'zh-CN', withVoices, 'globalThis.engineFails = true')
  const otto = await joined(site, roomId, 'Otto', 'de-DE', withVoices)
  await site.controller.rpc('recordings.start', { room_id: roomId })
  await expect.poll(() => heardBy(anna)).toEqual(['en'])
  await expect.poll(() => heardBy(min)).toEqual(['zh'])
  await expect.poll(() => heardBy(otto)).toEqual(['de'])
  const late = await joined(site, roomId, 'Late', 'en-GB')
  await expect.poll(() => heardBy(late)).toEqual(['en'])
  expect(await heardBy(anna)).toEqual(['en'])
  for (const { problems } of [anna, min, otto, late]) expect(problems).toEqual([])
})

test.each(['en', 'zh', 'de'])('The stored sentence in "%s" is of a good length, and loud', async (language) => {
  const file = join(import.meta.dirname, `../../texts/${language}/recording-on.mp3`)
  const { stderr } = await promisify(execFile)('ffmpeg', [
    '-nostdin',
    '-i',
    file,
    '-af',
    'volumedetect',
    '-f',
    'null',
    '-',
  ])
  const [, seconds] = /Duration: 00:00:(\d+\.\d+)/.exec(stderr) ?? []
  const [, mean] = /mean_volume: (-?[\d.]+) dB/.exec(stderr) ?? []
  expect(Number(seconds)).toBeGreaterThan(1.5)
  expect(Number(seconds)).toBeLessThan(4)
  expect(Number(mean)).toBeGreaterThan(-22)
})
