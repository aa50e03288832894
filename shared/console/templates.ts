import { z } from 'zod'
import { seenVersion } from '../domain/record-version.ts'
import { change, read } from './declare.ts'
import { done, emptyOutcome } from '../domain/outcome.ts'
import { operator, viewer } from './procedure-access.ts'
import { byImplementation, changes } from './procedure-events.ts'
import { roomTemplate, templateId, templateName, templateSettings } from '../domain/room-templates.ts'

export const templateProcedures = {
  'templates.list': read({
    summary: 'Templates of rooms, by name.',
    input: emptyOutcome,
    output: z.array(roomTemplate),
    access: viewer('rooms:read'),
  }),
  'templates.save': change({
    summary: 'Save a template of rooms. Without an id it is a new one; with an id, what is left out stays.',
    input: z.union([
      z.strictObject({ name: templateName, settings: templateSettings, ...seenVersion }),
      z.strictObject({
        id: templateId,
        name: templateName.optional(),
        settings: templateSettings.optional(),
        ...seenVersion,
      }),
    ]),
    output: roomTemplate,
    edits: (input) => ('id' in input ? { kind: 'template', key: input.id } : undefined),
    access: operator('rooms:write'),
    event: { records: ['template'], facts: byImplementation },
  }),
  'templates.remove': change({
    summary: 'Delete a template. Rooms made from it stay.',
    input: z.strictObject({ id: templateId }),
    output: done,
    access: operator('rooms:write'),
    event: changes('template'),
  }),
}
