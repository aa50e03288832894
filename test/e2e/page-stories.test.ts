import { describe, expect, test } from 'vitest'
import { sharedConsole } from '../support/sites/console-site.ts'
import { everyPageStory } from './stories/accessibility.ts'
import { backButtonStories } from './stories/back-button.ts'
import { formStories } from './stories/forms.ts'
import { helpStories } from './stories/help.ts'
import { listStories } from './stories/lists.ts'
import { lookStories } from './stories/looks.ts'

/** What all pages of the console have in common: forms, lists, help, their looks on a phone. */
describe('a page of the console', () => {
  const opened = sharedConsole('headless')

  formStories(() => opened())
  listStories(() => opened())
  helpStories(() => opened())
  lookStories(() => opened())
  backButtonStories(() => opened())
  everyPageStory(() => opened())
  test('causes no errors', () => {
    expect(opened().problems).toEqual([])
  })
})
