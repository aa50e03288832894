import { afterAll, beforeAll, describe } from 'vitest'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'
import { RoomSite } from '../support/sites/room-site.ts'
import { accessibilityStory, phoneAccessibilityStory, signInStory } from '../e2e/stories/accessibility.ts'
import { dialogStory } from '../e2e/stories/dialogs.ts'
import { roomAccessibilityStory } from '../e2e/stories/room-accessibility.ts'

// Every run of the tests opens the same pages of the console in light mode, on a desktop.
describe('in both modes, on a desktop and a phone', () => {
  let opened: ConsoleUnderTest
  let site: RoomSite
  beforeAll(async () => {
    ;[opened, site] = await Promise.all([openConsole('headless'), RoomSite.start()])
  })
  afterAll(async () => {
    await Promise.all([opened[Symbol.asyncDispose](), site[Symbol.asyncDispose]()])
  })

  accessibilityStory(() => opened, 'light')
  accessibilityStory(() => opened, 'dark')
  dialogStory(() => opened, 'dark')
  signInStory('dark')
  roomAccessibilityStory(() => site, 'desktop')
  roomAccessibilityStory(() => site, 'phone')
  phoneAccessibilityStory(() => opened, 'dark')
  phoneAccessibilityStory(() => opened, 'light')
})
