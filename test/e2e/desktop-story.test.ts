import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'
import { clientStories } from './stories/clients.ts'

/** The pages are those of the headless console, which has all the stories; here one day of them goes over IPC, in the desktop's window. */
describe('an operator of the desktop app', () => {
  let opened: ConsoleUnderTest
  beforeAll(async () => {
    opened = await openConsole('desktop')
  })
  afterAll(() => opened[Symbol.asyncDispose]())

  clientStories(() => opened)
  test('rooms and devices are still there after the app was quit and started again', async () => {
    const before = await opened.call('credentials.list')
    await opened.restart()
    const kept = (await opened.call('credentials.list')).map(({ access_key }) => access_key)
    expect(kept).toEqual(before.map(({ access_key }) => access_key))
  })
  test('nothing went wrong in the page meanwhile', () => {
    expect(opened.problems).toEqual([])
  })
})
