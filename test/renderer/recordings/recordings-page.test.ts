import { join } from 'node:path'
import { expect, test } from 'vitest'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import RecordingsPage from '../../../renderer/console/pages/RecordingsPage.vue'
import { record } from '../../support/recordings/recorded-files.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

/** A camera and a person were recorded an hour ago, the person for the middle part only. */
async function recorded(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, 'recordings')
  const startedAt = Date.now() - 3_600_000
  await record({ folder, startedAt, roomId: '1000', userId: 'dock', userName: 'Loading dock' })
  await record({
    folder,
    startedAt: startedAt + 3_000,
    roomId: '1000',
    userId: 'anna',
    userName: 'Anna Weber',
    device: false,
    film: { seconds: 4 },
  })
}

const lanes = (): string[] => [...document.querySelectorAll('.names .name span')].map((name) => name.textContent ?? '')

/** Opens the list of streams, and chooses one by its name. */
async function choose(name: string): Promise<void> {
  document.querySelector<HTMLElement>('.sources .el-select__wrapper')?.click()
  const option = await eventually(() => {
    const found = [...document.querySelectorAll<HTMLElement>('.el-select-dropdown__item')].find((one) =>
      one.textContent?.includes(name),
    )
    if (!found) throw new Error(`there is no "${name}" to choose`)
    return found
  })
  option.click()
}

test('A site without recordings explains how to start one', async () => {
  show(RecordingsPage, await operator())
  await says('Nothing is recorded yet')
  await showLanguage('zh')
  await says('还没有录像')
  await showLanguage('de')
  await says('Noch nichts aufgezeichnet')
  await showLanguage('en')
})

test('An operator sees the latest stream, adds the others of its room, and exports them', async () => {
  const client = await operator(recorded)
  await eventually(async () => {
    if ((await client.call('recordings.sources', {})).total < 2) throw new Error('the index is not made yet')
  })
  show(RecordingsPage, client)
  await eventually(() => expect(lanes()).toEqual(['Loading dock']))
  await choose('everyone in room 1000')
  await eventually(() => expect(lanes().toSorted()).toEqual(['Anna Weber', 'Loading dock']))
  await eventually(() => expect(document.querySelectorAll('.lane .span').length).toBeGreaterThanOrEqual(2))
  // Nothing is kept or deleted that nobody has selected.
  document.querySelector<HTMLElement>('.controls [aria-haspopup="menu"]')?.click()
  const act = (text: string): Promise<Element> =>
    eventually(() => {
      const found = [...document.querySelectorAll('[role="menuitem"]')].find((one) => one.textContent?.includes(text))
      if (!found) throw new Error(`the menu has no "${text}"`)
      return found
    })
  for (const text of ['Keep the selection', 'Delete the selection…'])
    expect((await act(text)).getAttribute('aria-disabled')).toBe('true')
  window.dispatchEvent(new KeyboardEvent('keydown', { key: 'i' }))
  window.dispatchEvent(new KeyboardEvent('keydown', { key: 'o' }))
  for (const text of ['Keep the selection', 'Delete the selection…'])
    await eventually(async () => expect((await act(text)).getAttribute('aria-disabled')).not.toBe('true'))
  await press('Export')
  await says('2 streams, one archive with a file each')
  const field = await eventually(() => {
    const found = document.querySelector<HTMLInputElement>('.span input.time')
    if (!found) throw new Error('the dialog is not open')
    return found
  })
  field.value = '23:59:59'
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }))
  await says('The end must be after the start.')
})

test('A viewer sees cameras only, without an export button', async () => {
  const client = await operator(recorded)
  const viewer = client.as({ role: 'viewer' })
  await eventually(async () => {
    if ((await viewer.call('recordings.sources', {})).total === 0) throw new Error('the index is not made yet')
  })
  show(RecordingsPage, viewer)
  await eventually(() => expect(lanes()).toEqual(['Loading dock']))
  document.querySelector<HTMLElement>('.sources .el-select__wrapper')?.click()
  await says('Whole rooms')
  expect(pageText()).not.toContain('Anna Weber')
  expect([...document.querySelectorAll('button')].some((button) => button.textContent?.trim() === 'Export')).toBe(false)
})
