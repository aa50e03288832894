import { controllersStory } from '../e2e/stories/controllers-page.ts'

controllersStory(['light', 'dark'], ['leader', 'standby'])
