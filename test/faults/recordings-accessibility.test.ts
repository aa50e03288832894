import { expect, test } from 'vitest'
import { openPage, startedAt } from '../e2e/recorded-meeting.ts'
import { noteCutTexts } from '../e2e/surfaces/cut-texts.ts'
import { violations } from '../support/axe.ts'
import { lookAt, sizes } from '../e2e/surfaces/surface-walk.ts'

test('axe finds nothing in the dialogs and menus of recordings, desktop and phone, light and dark; no language cuts off their texts', async () => {
  const { console: opened, page } = await openPage('headless')
  const found: Record<string, string[]> = {}
  const cut: Record<string, string[]> = {}
  page.setDefaultTimeout(15_000)
  const { room_id } = await opened.call('rooms.create', { topic: 'Ruled' })
  const [address] = page.url().split('#')
  for (const size of ['desktop', 'phone'] as const) {
    await page.setViewportSize(sizes[size])
    await page.goto(`${address}#/recordings?room=1000&at=${startedAt + 500}`)
    await page.getByRole('slider', { name: 'Shown moment' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Export' }).click()
    await lookAt(page, 'ExportDialog AppDialog', size, found)
    await noteCutTexts(page, opened.call, `ExportDialog AppDialog, ${size}`, cut)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('toolbar', { name: 'Player' }).getByRole('button', { name: 'More' }).click()
    await lookAt(page, 'RecordingsPage AppMenu', size, found)
    await noteCutTexts(page, opened.call, `RecordingsPage AppMenu, ${size}`, cut)
    await page.keyboard.press('Escape')
    await page.goto(`${address}#/rooms/${room_id}`)
    await page.getByRole('button', { name: 'Change rule' }).click()
    await lookAt(page, 'RuleDialog FormDialog', size, found)
    await noteCutTexts(page, opened.call, `RuleDialog FormDialog, ${size}`, cut)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: /rule/i }).waitFor({ state: 'hidden' })
  }
  expect(found).toEqual({})
  expect(cut).toEqual({})
})
