import { expect, onTestFinished, test } from 'vitest'
import { RoomSite, Visitor } from '../support/sites/room-site.ts'

/** Notes what a page says, in which language, instead of saying it. */
const noteSpeech = `(() => {
  globalThis.spoken = []
  speechSynthesis.speak = ({ lang, text }) => void spoken.push(lang.slice(0, 2) + ': ' + text)
})()`

/** Joins with a browser of a language. */
async function joined(site: RoomSite, roomId: string, name: string, locale: string): Promise<Visitor> {
  const page = await site.window('fake', { locale })
  await page.addInitScript(noteSpeech)
  const visitor = new Visitor(page)
  await page.goto(await site.link(roomId))
  await page.getByRole('textbox').first().fill(name)
  await visitor.enter()
  return visitor
}

const spokenBy = ({ page }: Visitor): Promise<string[]> => page.evaluate<string[]>('spoken')

test('Everybody in a room hears once, in the language of their page, that it is recorded; a site may leave it at the notice', {
  timeout: 120_000,
}, async () => {
  const site = await RoomSite.start()
  onTestFinished(() => site[Symbol.asyncDispose]())
  const { controller } = site
  const roomId = await site.room({ topic: 'Weekly' })
  const anna = await joined(site, roomId, 'Anna', 'en-GB')
  const min = await joined(site, roomId, 'Min', 'zh-CN')
  expect([await spokenBy(anna), await spokenBy(min)]).toEqual([[], []])
  await controller.rpc('recordings.start', { room_id: roomId })
  const [english, chinese] = [['en: This meeting is being recorded'], ['zh: 本次会议正在录制']]
  await expect.poll(() => spokenBy(anna)).toEqual(english)
  await expect.poll(() => spokenBy(min)).toEqual(chinese)
  // A late comer hears it on entering; the others do not hear it again.
  const late = await joined(site, roomId, 'Late', 'en-GB')
  await expect.poll(() => spokenBy(late)).toEqual(english)
  expect([await spokenBy(anna), await spokenBy(min)]).toEqual([english, chinese])

  await controller.rpc('recordings.stop', { room_id: roomId })
  await anna.page.getByText('Recording', { exact: true }).waitFor({ state: 'detached' })
  await controller.rpc('settings.set', { recording: { announce: false } })
  const quiet = await joined(site, roomId, 'Quiet', 'en-GB')
  await controller.rpc('recordings.start', { room_id: roomId })
  await quiet.page.getByText('Recording', { exact: true }).waitFor()
  expect(await spokenBy(quiet)).toEqual([])
  for (const { problems } of [anna, min, late, quiet]) expect(problems).toEqual([])
})
