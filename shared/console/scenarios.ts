import { z } from 'zod'
import { consoleRefusal, emptyOutcome, moment } from '../domain/outcome.ts'
import { wordedText } from '../domain/worded-text.ts'
import { change, read } from './declare.ts'
import { admin, person } from './procedure-access.ts'
import { subject } from './procedure-events.ts'

/** Name of a scenario in addresses and reports. */
export const scenarioName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,59}$/, 'must be a name of lower-case letters, digits and hyphens')

const summary = z.strictObject({ name: z.string(), title: wordedText, description: wordedText })

/** Effects of a run of a scenario on this site, which its end takes back. */
const effects = z.strictObject({
  /** Labels of credentials, and names of nodes, test cameras and groups of test people that it creates. */
  credentials: z.array(z.string()),
  nodes: z.array(z.string()),
  cameras: z.array(z.string()),
  people: z.array(z.string()),
  /** Settings that it changes, such as `access.token_idle_ms`. */
  settings: z.array(z.string()),
  licence: z.boolean(),
  /** Whether it makes rooms, injects faults into calls of clients, or blocks writes to the disk. */
  rooms: z.boolean(),
  faults: z.boolean(),
  disk: z.boolean(),
})

const scenarioPreview = summary.extend({
  seed: z.int(),
  steps: z.int(),
  /** Scenario time of the last step, in milliseconds. */
  length: z.number(),
  effects,
})
export type ScenarioPreview = z.output<typeof scenarioPreview>

const stepStates = ['waiting', 'running', 'holds', 'broken', 'skipped'] as const

const stepView = z.strictObject({
  number: z.int(),
  /** Scenario time, in milliseconds. */
  at: z.number(),
  say: wordedText,
  state: z.enum(stepStates),
  /** Of a broken step; English. */
  expected: z.string(),
  came: z.string(),
})
export type ScenarioStepView = z.output<typeof stepView>

/** `restoring`: takes back what it made. `interrupted`: a restart of the controller stopped it. */
const runStates = ['running', 'paused', 'restoring', 'done', 'stopped', 'interrupted'] as const

const scenarioRun = summary.extend({
  seed: z.int(),
  state: z.enum(runStates),
  started_at: moment,
  steps: z.array(stepView),
  /** Changes that could not be taken back; English. */
  left: z.array(z.string()),
})
export type ScenarioRunView = z.output<typeof scenarioRun>

const text = z
  .string()
  .min(1)
  .max(1024 * 1024)

export const scenarioProcedures = {
  'scenarios.list': read({
    summary: 'The bundled scenarios, and the present or last run.',
    input: emptyOutcome,
    output: z.strictObject({ bundled: z.array(summary), run: scenarioRun.nullable() }),
    access: admin('site:read'),
    refreshOn: ['scenarios.changed', 'settings.changed'],
  }),
  'scenarios.text': read({
    summary: 'The text of a bundled scenario.',
    input: z.strictObject({ name: scenarioName }),
    output: z.strictObject({ text: z.string() }),
    access: admin('site:read'),
    refreshOn: [],
  }),
  'scenarios.check': read({
    summary: 'What a scenario would do to this site, or the problems of its text with their JSON paths.',
    input: z.strictObject({ text }),
    output: z.strictObject({
      /** Problems of the text, in English with JSON paths; it then has no preview. */
      problems: z.array(z.string()),
      /** Reasons why it cannot run on this site. */
      hindrances: z.array(consoleRefusal),
      preview: scenarioPreview.nullable(),
    }),
    access: admin('site:read'),
    refreshOn: [],
  }),
  'scenarios.incident': read({
    summary:
      'What happened in a stretch of time as a scenario: calls of clients, cameras, people and nodes. It contains no secrets.',
    input: z.strictObject({ from: moment, to: moment }),
    output: z.strictObject({
      text: z.string(),
      name: scenarioName,
      steps: z.int(),
      /** Number of calls in the stretch without a step. */
      left_out: z.int(),
    }),
    access: admin('site:read'),
    refreshOn: [],
  }),
  'scenarios.start': change({
    summary: 'Run a scenario on this site. At its end, what it made is removed and what it changed is restored.',
    input: z.strictObject({
      text,
      /** Default: the seed of the scenario. */
      seed: z.int().min(0).max(0xffff_ffff).optional(),
      /** Factor of the pace; 0: without pauses. */
      pace: z.number().min(0).max(1_000).default(1),
      /** Whether it begins paused. */
      paused: z.boolean().default(false),
    }),
    output: scenarioRun,
    // It creates credentials, and changes settings and the licence.
    access: person('admin'),
    event: {
      outside: 'memory',
      subjects: () => [subject.lab('scenario')],
      facts: (_input, { name }) => ({ name }),
    },
  }),
  'scenarios.steer': change({
    summary: 'Pause, continue or stop the run, or begin its next step at once.',
    input: z.strictObject({ action: z.enum(['pause', 'resume', 'step', 'stop']) }),
    output: scenarioRun,
    access: admin('lab:write'),
    event: {
      outside: 'memory',
      subjects: () => [subject.lab('scenario')],
      facts: ({ action }) => ({ detail: action }),
    },
  }),
}
