import { afterAll, beforeAll } from 'vitest'
import { manyGroupsStory, tagGroupStories } from '../e2e/stories/tag-groups.ts'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'

let opened: ConsoleUnderTest
beforeAll(async () => {
  opened = await openConsole('headless')
})
afterAll(() => opened[Symbol.asyncDispose]())

tagGroupStories(() => opened)
manyGroupsStory()
