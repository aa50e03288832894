import { expect, test } from 'vitest'
import { benchRoom, fillRooms } from '../../bench/site.ts'
import { openConsole } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** A site of 100,000 rooms. */
export function manyRoomsStory(): void {
  test('100,000 rooms scroll: any of them can be reached, and the page renders only a few', async () => {
    await using opened = await openConsole('headless', { prepare: (folder) => fillRooms(folder, 100_000) })
    const { page } = opened
    const pages = new ConsolePages(page)
    const drawn = (): Promise<number> => page.getByRole('row').count()
    await pages.go('Rooms')
    await page.getByText('100,000 of 100,000').waitFor()
    await pages.row('Benchmark room 100000').waitFor()
    const list = page.getByRole('grid', { name: 'Rooms' })

    // The focus on a button of a row goes with the row, and never to the row that takes its place.
    await page.getByRole('button', { name: 'More actions: Benchmark room 100000' }).focus()
    await list.evaluate((element) => {
      const grid = element as { scrollTop: number }
      grid.scrollTop += 5_000
    })
    await pages.row('Benchmark room 99850').waitFor()
    expect(await page.evaluate(`document.activeElement.closest('[role="row"]') === null`)).toBe(true)

    await list.focus()
    await page.keyboard.press('End')
    await pages.row(/Benchmark room 1(?!\d)/).waitFor()
    expect(await drawn()).toBeLessThan(150)
    for (const share of [0.5, 0.25, 0.9, 0.1]) {
      await list.evaluate((element, at) => {
        const grid = element as { scrollTop: number; scrollHeight: number }
        grid.scrollTop = grid.scrollHeight * at
      }, share)
      await expect.poll(() => page.getByRole('row').filter({ hasText: 'Benchmark room' }).count()).toBeGreaterThan(10)
      expect(await drawn()).toBeLessThan(150)
    }
    await pages.search.fill('room 77777')
    await page.getByText('1 of 100,000').waitFor()
    await pages.row('Benchmark room 77777').click()
    await pages.panel('Benchmark room 77777').getByText('Nobody is in this room').waitFor()

    // A link leads to a row far down the list.
    const { room_id } = benchRoom(99_000)
    await pages.search.fill('')
    await pages.go('Overview')
    await page.evaluate(`location.hash = '#/rooms/${room_id}'`)
    await page.locator('.row-line.current', { hasText: 'Benchmark room 99000' }).waitFor()
    expect(opened.problems).toEqual([])
  })
}
