import { manyRoomsStory } from '../e2e/stories/many-rooms.ts'

manyRoomsStory()
