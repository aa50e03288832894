import { z } from 'zod'
import { credentialInput, siteFileLabel } from './console/credentials.ts'
import { licenceSchema } from './licence.ts'
import { maxTestCameras, testCameraSpecSchema } from './media/test-camera.ts'
import { maxTestGroups, testPeopleSpecSchema } from './media/test-people.ts'
import { nodeInputSchema } from './node.ts'
import { settingsPatchSchema } from './settings.ts'

/**
 * A site as a document. Applying it creates or updates the records in the document; all other records stay unchanged.
 */
export const siteFileSchema = z.strictObject({
  /** Address of the database with the site; a flag overrides it. */
  store: z.string().max(2_000).optional(),
  credentials: z
    .array(
      credentialInput.required({ access_key: true, secret_key: true }).extend({
        enabled: z.boolean().optional(),
        p2p: z.boolean().optional(),
        label: siteFileLabel.optional(),
      }),
    )
    .max(1_000)
    .optional(),
  nodes: z.array(nodeInputSchema).max(100).optional(),
  licence: licenceSchema.partial().optional(),
  settings: settingsPatchSchema.optional(),
  /**
   * Test cameras and groups of test people of the lab. A camera without a port keeps its port, or gets the next one from
   * 18554 on.
   */
  lab: z
    .strictObject({
      cameras: z.array(testCameraSpecSchema).max(maxTestCameras).optional(),
      people: z.array(testPeopleSpecSchema).max(maxTestGroups).optional(),
    })
    .optional(),
})
export type SiteFile = z.output<typeof siteFileSchema>
