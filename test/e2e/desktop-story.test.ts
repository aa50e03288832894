import { describe, expect, test } from 'vitest'
import { sharedConsole } from '../support/sites/console-site.ts'
import { clientStories, firstStartStory } from './stories/clients.ts'

describe('an operator starts the desktop app for the first time', () => {
  firstStartStory('desktop')
})

/** The pages equal those of the headless console, which has all stories; here one day runs over IPC, in the desktop's window. */
describe('an operator of the desktop app', () => {
  const opened = sharedConsole('desktop')

  clientStories(() => opened())
  test('finds rooms and devices after quitting the app and starting it again', async () => {
    const before = await opened().call('credentials.list')
    await opened().restart()
    const kept = (await opened().call('credentials.list')).map(({ access_key }) => access_key)
    expect(kept).toEqual(before.map(({ access_key }) => access_key))
  })
  test('causes no errors in the page', () => {
    expect(opened().problems).toEqual([])
  })
})
